#include "cpu/timing_cache.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include <oneapi/dnnl/dnnl.hpp>

#include "cpu/simd.h"
#include "system/file_io.h"
#include "system/log.h"

namespace tpack::cpu {
namespace {

constexpr const char* kDisturbed = "~";  // before the seconds

/// First line of the file: whose kernels were timed.
std::string header() {
  const dnnl_version_t* onednn = dnnl_version();
  return std::string("tpack " TPACK_VERSION " oneDNN ") + std::to_string(onednn->major) + "." +
         std::to_string(onednn->minor) + "." + std::to_string(onednn->patch);
}

}  // namespace

TimingCache::TimingCache(const std::string& folder) {
  if (folder.empty()) return;
  std::string file = cpu_name();
  std::replace_if(
      file.begin(), file.end(), [](char c) { return c == ' ' || c == '/'; }, '_');
  path_ = folder + "/kernels-" + file + ".txt";
  add_from_file();
}

const Measurement* TimingCache::find(const std::string& key) const {
  const auto found = known_.find(key);
  return found == known_.end() ? nullptr : &found->second;
}

void TimingCache::put(const std::string& key, const Measurement& measured) { known_[key] = measured; }

/// A header, then lines of "seconds scratch_bytes key". A file of another version, and lines that cannot be
/// parsed, are ignored.
void TimingCache::add_from_file() {
  std::ifstream file(path_);
  std::string line;
  if (!std::getline(file, line) || line != header()) return;
  while (std::getline(file, line)) {
    std::istringstream parts(line);
    std::string seconds;
    Measurement m;
    std::string key;
    if (!(parts >> seconds >> m.scratch_bytes) || !std::getline(parts >> std::ws, key)) continue;
    m.disturbed = seconds.starts_with(kDisturbed);
    if (m.disturbed) seconds.erase(0, 1);
    m.seconds =
        seconds == "inf" ? std::numeric_limits<double>::infinity() : std::strtod(seconds.c_str(), nullptr);
    if (m.seconds > 0) known_.emplace(key, m);
  }
}

void TimingCache::save() {
  if (path_.empty()) return;
  add_from_file();
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
  std::ostringstream text;
  text << header() << '\n';
  for (const auto& [key, m] : known_)
    text << (m.disturbed ? kDisturbed : "") << m.seconds << ' ' << m.scratch_bytes << ' ' << key << '\n';
  try {
    write_whole_file(path_, text.str());
  } catch (const ResourceError& error) {
    log::debug(std::string("the cache of kernel timings: ") + error.what());
  }
}

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  std::map<std::string, std::string> fields;
  std::string line;
  while (std::getline(file, line) && !line.empty()) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::string name = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    fields[name] = colon + 2 < line.size() ? line.substr(colon + 2) : "";
  }
  return fields["vendor_id"] + " " + fields["cpu family"] + "/" + fields["model"] + "/" + fields["stepping"] +
         " " + simd::target();
}

}  // namespace tpack::cpu
