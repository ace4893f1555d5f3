#include "backend/cpu/tuner.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <sys/resource.h>

#include "backend/cpu/compute_mode.h"
#include "backend/cpu/simd.h"
#include "core/clock.h"
#include "core/file_io.h"
#include "core/log.h"
#include "tensor/tensor.h"

namespace tpack::cpu {
namespace {

std::string key_of(const KernelRequest& r, const Team& team) {
  std::string key = r.node.op->key();
  for (const Symbol& input : r.node.inputs) key += " " + input.spec().str();
  return key + " " + name_of(r.layout) + " " + r.algorithm + " " + std::to_string(r.pieces) + " pieces " +
         std::to_string(team.threads()) + " threads";
}

/// First line of the file: whose kernels were timed.
std::string header() {
  const dnnl_version_t* onednn = dnnl_version();
  return std::string("tpack " TPACK_VERSION " oneDNN ") + std::to_string(onednn->major) + "." +
         std::to_string(onednn->minor) + "." + std::to_string(onednn->patch);
}

/// Buffers with small numbers in them: zeros and denormals would give other timings. Allocated as zeros,
/// which are mapped and leave no hole in the heap.
std::vector<Tensor> buffers(const std::vector<Format>& formats) {
  std::vector<Tensor> all;
  for (const Format& format : formats) {
    const Tensor tensor =
        Tensor::zeros({DType::kFloat32, Shape{static_cast<int64_t>(format.bytes() / sizeof(float))}});
    const auto values = tensor.span<float>();
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7919 % 1000) * 1e-3F - 0.5F;
    all.push_back(tensor);
  }
  return all;
}

/// How often threads of this process have lost a processor to others so far.
long interruptions() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

Tuner::Measurement time_of(PreparedKernel& prepared, Team& team) {
  constexpr int kUndisturbed = 5;
  constexpr size_t kMostRuns = 12;
  const std::vector<Tensor> in = buffers(prepared.in);
  const std::vector<Tensor> out = buffers(prepared.out);
  const Tensor scratch = Tensor::zeros({DType::kUInt8, Shape{static_cast<int64_t>(prepared.scratch_bytes)}});
  std::vector<std::byte*> from;
  std::vector<std::byte*> to;
  for (const Tensor& tensor : in) from.push_back(tensor.raw());
  for (const Tensor& tensor : out) to.push_back(tensor.raw());
  const RunInfo info;
  const ComputeMode mode;  // as in a run
  const KernelArgs args{from, to, scratch.raw(), &info, &team};
  prepared.kernel->run(args);
  std::vector<TimedRun> runs;
  for (int left = kUndisturbed; left > 0 && runs.size() < kMostRuns;) {
    const long before = interruptions();
    const Stopwatch watch;
    prepared.kernel->run(args);
    runs.push_back({watch.seconds(), interruptions() != before});
    if (!runs.back().interrupted) --left;
  }
  return fastest(runs);
}

/// A kernel that this CPU cannot run takes infinitely long.
Tuner::Measurement time_kernel(const KernelRequest& request, Team& team) {
  try {
    PreparedKernel prepared = find_kernel(request.node.op->type())->prepare(request);
    Tuner::Measurement m = time_of(prepared, team);
    m.scratch_bytes = prepared.scratch_bytes;
    return m;
  } catch (const ConfigError&) {
    return {std::numeric_limits<double>::infinity(), 0};
  }
}

}  // namespace

Tuner::Tuner(const std::string& cache_dir, Timings timings) : Tuner(cache_dir, time_kernel) {
  timings_ = timings;
}

Tuner::Tuner(const std::string& cache_dir, Time time) : time_(std::move(time)) {
  if (cache_dir.empty()) return;
  std::string file = cpu_name();
  std::replace_if(
      file.begin(), file.end(), [](char c) { return c == ' ' || c == '/'; }, '_');
  path_ = cache_dir + "/kernels-" + file + ".txt";
  load();
}

Tuner::~Tuner() {
  if (changed_ && !path_.empty()) save();
}

Tuner::Measurement Tuner::measure(const KernelRequest& request, Team& team) {
  const std::string key = key_of(request, team);
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  if (timings_ == Timings::kKnown) return {.disturbed = true};
  if (!changed_) log::info("timing kernels that this machine has not timed yet, which may take a minute");
  const Measurement m = time_(request, team);
  changed_ = true;
  return known_[key] = m;
}

/// A header, then lines of "seconds scratch_bytes key". A file of another version, and lines that cannot be
/// parsed, are ignored: the file is only a cache.
void Tuner::load() {
  std::ifstream file(path_);
  std::string line;
  if (!std::getline(file, line) || line != header()) return;
  while (std::getline(file, line)) {
    std::istringstream parts(line);
    std::string seconds;
    Measurement m;
    std::string key;
    if (!(parts >> seconds >> m.scratch_bytes) || !std::getline(parts >> std::ws, key)) continue;
    m.seconds =
        seconds == "inf" ? std::numeric_limits<double>::infinity() : std::strtod(seconds.c_str(), nullptr);
    if (m.seconds > 0) known_[key] = m;
  }
}

void Tuner::save() const {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
  std::ostringstream text;
  text << header() << '\n';
  size_t disturbed = 0;
  for (const auto& [key, m] : known_) {
    if (m.disturbed) {
      ++disturbed;
    } else {
      text << m.seconds << ' ' << m.scratch_bytes << ' ' << key << '\n';
    }
  }
  if (disturbed > 0)
    log::info(std::to_string(disturbed) + " of " + std::to_string(known_.size()) +
              " kernel timings are not kept for later runs, because other processes used the processors");
  try {
    write_whole_file(path_, text.str());
  } catch (const ResourceError& error) {
    log::debug(std::string("the cache of kernel timings: ") + error.what());
  }
}

Tuner::Measurement fastest(std::span<const TimedRun> runs) {
  constexpr auto kNone = std::numeric_limits<double>::infinity();
  double alone = kNone;
  double all = kNone;
  int left_alone = 0;
  for (const TimedRun& run : runs) {
    all = std::min(all, run.seconds);
    if (run.interrupted) continue;
    alone = std::min(alone, run.seconds);
    ++left_alone;
  }
  const bool disturbed = left_alone < 2;
  return {disturbed ? all : alone, 0, disturbed};
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
