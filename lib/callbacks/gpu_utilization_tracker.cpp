#include "callbacks/gpu_tracker.h"

namespace tpack {
namespace {

/// Source: tensorpack callbacks/prof.py, GPUUtilizationTracker.
class GPUUtilizationTracker final : public GpuTracker {
 public:
  static Schema<Params> schema() {
    return with_fields(
        Schema<Params>("Reports gpu_N_utilization after each epoch: the mean utilization of each NVIDIA "
                       "device during the epoch's steps, in percent, including other processes.")
            .example("GPUUtilizationTracker: {period_s: 0.5}"));
  }
  explicit GPUUtilizationTracker(Params p) : GpuTracker(std::move(p), "callback GPUUtilizationTracker") {}

 private:
  std::string name_of(int64_t device) const override {
    return "gpu_" + std::to_string(device) + "_utilization";
  }
  double figure(const std::vector<GpuReading>& readings) const override {
    double sum = 0;
    for (const GpuReading& reading : readings) sum += reading.utilization;
    return sum / static_cast<double>(readings.size());
  }
};

TPACK_REGISTER(Callback, GPUUtilizationTracker, "GPUUtilizationTracker");

}  // namespace
}  // namespace tpack
