#include <algorithm>

#include "callbacks/gpu_tracker.h"

namespace tpack {
namespace {

/// Source: tensorpack callbacks/prof.py, GPUMemoryTracker.
class GPUMemoryTracker final : public GpuTracker {
 public:
  static Schema<Params> schema() {
    return with_fields(
        Schema<Params>("Reports gpu_N_memory_gb after each epoch: the peak memory use of each NVIDIA device "
                       "during the epoch's steps (1 GB is 10^9 bytes), including other processes.")
            .example("GPUMemoryTracker: {period_s: 0.5}"));
  }
  explicit GPUMemoryTracker(Params p) : GpuTracker(std::move(p), "callback GPUMemoryTracker") {}

 private:
  std::string name_of(int64_t device) const override {
    return "gpu_" + std::to_string(device) + "_memory_gb";
  }
  double figure(const std::vector<GpuReading>& readings) const override {
    constexpr double kGb = 1e9;
    uint64_t most = 0;
    for (const GpuReading& reading : readings) most = std::max(most, reading.used_bytes);
    return static_cast<double>(most) / kGb;
  }
};

TPACK_REGISTER(Callback, GPUMemoryTracker, "GPUMemoryTracker", "PeakMemoryTracker");

}  // namespace
}  // namespace tpack
