#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "callbacks/nvml.h"
#include "train/callback.h"

namespace tpack {

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
  GpuTracker(Params p, std::string who)
      : Callback({.only_one = true, .ranks = Ranks::kAll}), p_(std::move(p)), who_(std::move(who)) {}
  static Schema<Params> with_fields(Schema<Params> schema);

  /// Name of the figure of a device.
  virtual std::string name_of(int64_t device) const = 0;
  /// The figure for the readings of an epoch, at least one.
  virtual double figure(const std::vector<GpuReading>& readings) const = 0;

 private:
  void end_reading();
  void read_until_ended();
  void read_once();

  Params p_;
  std::string who_;
  std::unique_ptr<Nvml> nvml_;                     // null: there is nothing to monitor
  std::vector<int64_t> devices_;                   // that are watched
  std::vector<std::vector<GpuReading>> readings_;  // of each, in this epoch
  std::thread thread_;
  std::mutex mutex_;  // of readings_ and ending_ while the thread runs
  std::condition_variable wake_;
  bool ending_ = false;
};

}  // namespace tpack
