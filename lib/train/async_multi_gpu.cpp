#include "train/data_parallel_trainer.h"
#include "train/device_list.h"

namespace tpack {
namespace {

struct AsyncMultiGpuParams {
  DeviceList devices;
  bool scale_gradient = true;
};

/// Towers that do not wait for each other (AsyncParallel). Source: tensorpack's AsyncMultiGPUTrainer.
class AsyncMultiGpu final : public DataParallelTrainer {
 public:
  using Params = AsyncMultiGpuParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Trains towers on several devices that do not wait for each other: each applies its "
               "gradient to the shared variables when it has one. A step is one of the first tower. "
               "Results differ from run to run.")
        .example("AsyncMultiGPU: {devices: [cpu:0, cpu:1]}")
        .field("devices", &Params::devices,
               "devices with one tower each, or their number, as in SyncMultiGPU")
        .shorthand()
        .field("scale_gradient", &Params::scale_gradient,
               "true: divides each gradient by the number of towers");
  }
  explicit AsyncMultiGpu(Params p) : p_(std::move(p)) {}

 protected:
  Choice choice() const override {
    return {.devices = p_.devices.towers(), .average = p_.scale_gradient, .asynchronous = true};
  }

 private:
  Params p_;
};

TPACK_REGISTER(Trainer, AsyncMultiGpu, "AsyncMultiGPU", "AsyncMultiGPUTrainer");

}  // namespace
}  // namespace tpack
