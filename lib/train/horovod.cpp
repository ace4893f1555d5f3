#include "train/data_parallel_trainer.h"

namespace tpack {
namespace {

struct HorovodParams {
  double timeout_s = Comm::kDefaultTimeoutS;
};

/// One process a device, started by mpirun; alone it is a world of one. Variables come from rank 0, gradients
/// are summed in the order of the ranks and averaged. Source: tensorpack's HorovodTrainer.
class Horovod final : public DataParallelTrainer {
 public:
  using Params = HorovodParams;
  static Schema<Params> schema() {
    return Schema<Params>("Trains together with the other processes of mpirun.")
        .example("Horovod: {timeout_s: 60}")
        .field("timeout_s", &Params::timeout_s, above(0),
               "seconds to wait for another rank before the run ends; a rank that compiles kernels, "
               "saves, or runs an epoch's callbacks gets more time");
  }
  explicit Horovod(Params p) : p_(p) {}

  void setup(const TrainSetup& setup) override {
    setup.world->set_timeout(p_.timeout_s);
    DataParallelTrainer::setup(setup);
  }

 protected:
  std::vector<std::string> devices(Comm& /*world*/) const override { return {"cpu:0"}; }
  bool uses_world() const override { return true; }

 private:
  Params p_;
};

TPACK_REGISTER(Trainer, Horovod, "Horovod", "HorovodTrainer");

}  // namespace
}  // namespace tpack
