#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "callbacks/nvml.h"
#include "system/log.h"
#include "train/callback.h"

namespace tpack {
namespace {

/// The reported value of each device after an epoch.
struct GpuFigure {
  const char* callback;
  const char* name;  // "memory_gb": gpu_0_memory_gb
  const char* doc;
  double (*of)(const std::vector<GpuReading>& readings);  // of an epoch, at least one
};

/// The parameters of callbacks that monitor GPUs.
struct GpuTrackerParams {
  std::optional<std::vector<int64_t>> devices;
  double period_s = 1;
  std::string library = "libnvidia-ml.so.1";
};

/// Reads the state of GPUs during an epoch's steps, on a separate thread, and reports one figure for each
/// after the epoch. Threads: the training thread; see `add`.
class GpuTracker : public Callback {
 public:
  using Params = GpuTrackerParams;
  ~GpuTracker() override { end_reading(); }

  void setup(Setup& setup) override;
  void before_epoch(Run& run) override;
  void after_epoch(Run& run) override;
  void trigger(Run& run) override;

 protected:
  GpuTracker(Params p, const GpuFigure& figure)
      : Callback({.only_one = true, .ranks = Ranks::kAll}),
        p_(std::move(p)),
        figure_(figure),
        who_(std::string("callback ") + figure.callback) {}

 private:
  std::string name_of(int64_t device) const { return "gpu_" + std::to_string(device) + "_" + figure_.name; }
  void end_reading();
  void read_until_ended();
  void read_once();

  Params p_;
  const GpuFigure& figure_;
  std::string who_;
  std::unique_ptr<Nvml> nvml_;                     // null: there is nothing to monitor
  std::vector<int64_t> devices_;                   // that are watched
  std::vector<std::vector<GpuReading>> readings_;  // of each, in this epoch
  std::thread thread_;
  std::mutex mutex_;  // of readings_ and ending_ while the thread runs
  std::condition_variable wake_;
  bool ending_ = false;
};

/// Without a device, it reports nothing, but this is an error if the config names some.
void GpuTracker::setup(Setup& setup) {
  devices_.clear();
  try {
    nvml_ = std::make_unique<Nvml>(p_.library);
  } catch (const ResourceError& error) {
    if (p_.devices) throw ConfigError(who_ + ": " + error.what());
    log::warning(who_ + " reports nothing: " + error.what());
    return;
  }
  const auto count = static_cast<int64_t>(nvml_->count());
  if (!p_.devices && count == 0) log::warning(who_ + " reports nothing: there is no device");
  for (int64_t i = 0; !p_.devices && i < count; ++i) devices_.push_back(i);
  if (p_.devices) devices_ = *p_.devices;
  for (const int64_t device : devices_) {
    if (device < 0 || device >= count)
      throw ConfigError(who_ + ": device " + std::to_string(device) + " does not exist; this machine has " +
                        std::to_string(count) + " (numbers from 0)");
    setup.provides(name_of(device));
  }
  readings_.assign(devices_.size(), {});
}

void GpuTracker::before_epoch(Run& /*run*/) {
  if (devices_.empty()) return;
  end_reading();  // of an epoch that did not end
  for (auto& readings : readings_) readings.clear();
  ending_ = false;
  thread_ = std::thread([this] { read_until_ended(); });
}

/// A short epoch has one reading, at its end.
void GpuTracker::after_epoch(Run& /*run*/) {
  end_reading();
  if (!readings_.empty() && readings_[0].empty()) read_once();
}

void GpuTracker::trigger(Run& run) {
  const std::lock_guard lock(mutex_);  // within an epoch, the thread still reads
  for (size_t i = 0; i < devices_.size(); ++i) {
    if (!readings_[i].empty()) run.monitors().put_scalar(name_of(devices_[i]), figure_.of(readings_[i]));
  }
}

void GpuTracker::end_reading() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void GpuTracker::read_until_ended() {
  const std::chrono::duration<double> period(p_.period_s);
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, period, [this] { return ending_; })) read_once();
}

void GpuTracker::read_once() {
  try {
    for (size_t i = 0; i < devices_.size(); ++i)
      readings_[i].push_back(nvml_->read(static_cast<size_t>(devices_[i])));
  } catch (const ResourceError& error) {
    log::warning(who_ + ": " + error.what());
  }
}

template <const GpuFigure& kFigure>
class GpuTrackerOf final : public GpuTracker {
 public:
  static Schema<Params> schema() {
    return Schema<Params>(std::string("Reports gpu_N_") + kFigure.name + " after each epoch: " + kFigure.doc +
                          ", including other processes.")
        .example(std::string(kFigure.callback) + ": {period_s: 0.5}")
        .field("devices", &Params::devices, "device numbers as in nvidia-smi; default: all")
        .field("period_s", &Params::period_s, between(0.01, 3600), "seconds between two readings")
        .field("library", &Params::library, "file of NVIDIA's management library, part of the driver");
  }
  explicit GpuTrackerOf(Params p) : GpuTracker(std::move(p), kFigure) {}
};

constexpr GpuFigure kMemory{
    "GPUMemoryTracker", "memory_gb",
    "the peak memory use of each NVIDIA device during the epoch's steps (1 GB is 10^9 bytes)",
    [](const std::vector<GpuReading>& readings) {
      constexpr double kGb = 1e9;
      uint64_t most = 0;
      for (const GpuReading& reading : readings) most = std::max(most, reading.used_bytes);
      return static_cast<double>(most) / kGb;
    }};
/// Source: tensorpack callbacks/prof.py, GPUMemoryTracker.
using GPUMemoryTracker = GpuTrackerOf<kMemory>;
TPACK_REGISTER(Callback, GPUMemoryTracker, "GPUMemoryTracker", "PeakMemoryTracker");

constexpr GpuFigure kUtilization{
    "GPUUtilizationTracker", "utilization",
    "the mean utilization of each NVIDIA device during the epoch's steps, in percent",
    [](const std::vector<GpuReading>& readings) {
      double sum = 0;
      for (const GpuReading& reading : readings) sum += reading.utilization;
      return sum / static_cast<double>(readings.size());
    }};
/// Source: tensorpack callbacks/prof.py, GPUUtilizationTracker.
using GPUUtilizationTracker = GpuTrackerOf<kUtilization>;
TPACK_REGISTER(Callback, GPUUtilizationTracker, "GPUUtilizationTracker");

}  // namespace
}  // namespace tpack
