#include <set>

#include "train/data_parallel_trainer.h"

namespace tpack {
namespace {

struct SyncMultiGpuParams {
  std::vector<std::string> devices;
};

/// A replica of the model on each device, each with a batch of its own and its own optimizer state; gradients
/// are summed in a fixed order and averaged. The total batch is batch_size times the number of devices.
/// Source: tensorpack's SyncMultiGPUTrainerReplicated.
class SyncMultiGpu final : public DataParallelTrainer {
 public:
  using Params = SyncMultiGpuParams;
  static Schema<Params> schema() {
    return Schema<Params>("Trains replicas of the model on several devices of one machine.")
        .example("SyncMultiGPU: {devices: [cpu:0, cpu:1]}")
        .field("devices", &Params::devices,
               "devices with one tower each; [cpu:0, cpu:1] are two halves of the processors")
        .required();
  }
  explicit SyncMultiGpu(Params p) : p_(std::move(p)) {
    if (p_.devices.empty())
      throw ConfigError("trainer SyncMultiGPU: 'devices' is empty; name at least one, such as cpu:0");
    std::set<std::string> seen;
    for (const std::string& name : p_.devices) {
      if (!seen.insert(name).second)
        throw ConfigError("trainer SyncMultiGPU: duplicate device '" + name + "'; each device has one tower");
    }
  }

 protected:
  std::vector<std::string> devices(Comm& /*world*/) const override { return p_.devices; }

 private:
  Params p_;
};

TPACK_REGISTER(Trainer, SyncMultiGpu, "SyncMultiGPU", "SyncMultiGPUTrainer", "SyncMultiGPUTrainerReplicated");

}  // namespace
}  // namespace tpack
