#include "train/data_parallel_trainer.h"
#include "train/device_list.h"

namespace tpack {

template <>
struct EnumNames<ReplicaOptions::Variables> {
  static constexpr std::array<std::pair<const char*, ReplicaOptions::Variables>, 2> kNames = {
      {{"replicated", ReplicaOptions::Variables::kReplicated},
       {"parameter_server", ReplicaOptions::Variables::kShared}}};
};

namespace {

struct SyncMultiGpuParams {
  DeviceList devices;
  ReplicaOptions::Variables mode = ReplicaOptions::Variables::kReplicated;
  bool average = true;
  int64_t accumulate = 1;
  bool broadcast_every_epoch = true;
};

/// A tower on each device, each with a batch of its own; gradients are summed in a fixed order and averaged.
/// The total batch is batch_size times the number of devices.
/// Source: tensorpack's SyncMultiGPUTrainerReplicated and SyncMultiGPUTrainerParameterServer.
class SyncMultiGpu final : public DataParallelTrainer {
 public:
  using Params = SyncMultiGpuParams;
  static Schema<Params> schema() {
    return broadcasting(accumulating(
        Schema<Params>("Trains towers on several devices of one machine, which update the same variables.")
            .example("SyncMultiGPU: {devices: [cpu:0, cpu:1]}")
            .field("devices", &Params::devices,
                   "devices with one tower each, or their number: 2 is [cpu:0, cpu:1], two halves of the "
                   "processors; without it, one for each memory node of the machine")
            .shorthand()
            .field("mode", &Params::mode,
                   "replicated: each tower has a copy of all weights; parameter_server: the first tower has "
                   "them, and the others read them there. The results are the same; replicated takes more "
                   "memory")
            .field("average", &Params::average,
                   "true: the gradient is the mean over the towers; false: the sum")));
  }
  explicit SyncMultiGpu(Params p) : p_(std::move(p)) {}

 protected:
  Choice choice() const override {
    return {.devices = p_.devices.towers(),
            .variables = p_.mode,
            .average = p_.average,
            .accumulate = p_.accumulate,
            .broadcast_every_epoch = p_.broadcast_every_epoch};
  }

 private:
  Params p_;
};

TPACK_REGISTER(Trainer, SyncMultiGpu, "SyncMultiGPU", "SyncMultiGPUTrainer", "SyncMultiGPUTrainerReplicated",
               Variant{"SyncMultiGPUTrainerParameterServer", "mode", "parameter_server"});

}  // namespace
}  // namespace tpack
