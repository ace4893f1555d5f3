#include "callbacks/gpu_tracker.h"

#include <chrono>

#include "system/log.h"

namespace tpack {

Schema<GpuTracker::Params> GpuTracker::with_fields(Schema<Params> schema) {
  return schema.field("devices", &Params::devices, "device numbers as in nvidia-smi; default: all")
      .field("period_s", &Params::period_s, between(0.01, 3600), "seconds between two readings")
      .field("library", &Params::library, "file of NVIDIA's management library, part of the driver");
}

/// Without a device, it reports nothing; it is a mistake if the config names some.
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

/// A short epoch has one reading, of its end.
void GpuTracker::after_epoch(Run& /*run*/) {
  end_reading();
  if (!readings_.empty() && readings_[0].empty()) read_once();
}

void GpuTracker::trigger(Run& run) {
  const std::lock_guard lock(mutex_);  // within an epoch, the thread still reads
  for (size_t i = 0; i < devices_.size(); ++i) {
    if (!readings_[i].empty()) run.monitors().put_scalar(name_of(devices_[i]), figure(readings_[i]));
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

}  // namespace tpack
