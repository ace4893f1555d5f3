#include "train/data_parallel_trainer.h"

namespace tpack {
namespace {

struct SimpleParams {
  std::string device = "cpu:0";
};

/// One device: backward and update, one after the other.
class SimpleTrainer final : public DataParallelTrainer {
 public:
  using Params = SimpleParams;
  static Schema<Params> schema() {
    return Schema<Params>("Trains on one device.")
        .example("Simple: {device: cpu:0}")
        .field("device", &Params::device, "where it runs: cpu:0 for all processors of this process");
  }
  explicit SimpleTrainer(Params p) : p_(std::move(p)) {}

 protected:
  std::vector<std::string> devices(Comm& /*world*/) const override { return {p_.device}; }

 private:
  Params p_;
};

TPACK_REGISTER(Trainer, SimpleTrainer, "Simple", "SimpleTrainer");

}  // namespace
}  // namespace tpack
