#include "backend/open_device.h"
#include "train/data_parallel_trainer.h"

namespace tpack {
namespace {

struct SimpleParams {
  Ref<DeviceName> device = default_device();
  int64_t accumulate = 1;
};

/// One device: backward and update, one after the other.
class SimpleTrainer final : public DataParallelTrainer {
 public:
  using Params = SimpleParams;
  static Schema<Params> schema() {
    return accumulating(
        Schema<Params>("Trains on one device.")
            .example("Simple: {accumulate: 4}")
            .field("device", &Params::device, "where it runs: cpu:0 for all processors of this process"));
  }
  explicit SimpleTrainer(Params p) : p_(std::move(p)) {}

 protected:
  Choice choice() const override { return {.devices = {p_.device}, .accumulate = p_.accumulate}; }

 private:
  Params p_;
};

TPACK_REGISTER(Trainer, SimpleTrainer, "Simple", "SimpleTrainer", "QueueInputTrainer");

}  // namespace
}  // namespace tpack
