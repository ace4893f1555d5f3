#include "backend/engine/timing_cache.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "system/file_io.h"
#include "system/log.h"

namespace tpack {
namespace {

constexpr const char* kDisturbed = "~";  // before the seconds

}  // namespace

TimingCache::TimingCache(const std::string& folder, std::string hardware, std::string version)
    : version_(std::move(version)) {
  if (folder.empty()) return;
  std::string file = std::move(hardware);
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
  if (!std::getline(file, line) || line != version_) return;
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
  text << version_ << '\n';
  for (const auto& [key, m] : known_)
    text << (m.disturbed ? kDisturbed : "") << m.seconds << ' ' << m.scratch_bytes << ' ' << key << '\n';
  try {
    write_whole_file(path_, text.str());
  } catch (const ResourceError& error) {
    log::debug(std::string("the cache of kernel timings: ") + error.what());
  }
}

}  // namespace tpack
