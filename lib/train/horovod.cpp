#include "train/data_parallel_trainer.h"

namespace tpack {
namespace {

/// One process a device, started by mpirun; alone it is a world of one. Variables come from rank 0, gradients
/// are summed in the order of the ranks and averaged. Source: tensorpack's HorovodTrainer.
class Horovod final : public DataParallelTrainer {
 public:
  using Params = NoParams;
  static Schema<Params> schema() {
    return Schema<Params>("Trains together with the other processes of mpirun.");
  }
  explicit Horovod(Params /*p*/) {}

 protected:
  std::vector<std::string> devices(Comm& /*world*/) const override { return {"cpu:0"}; }
  bool uses_world() const override { return true; }
};

TPACK_REGISTER(Trainer, Horovod, "Horovod", "HorovodTrainer");

}  // namespace
}  // namespace tpack
