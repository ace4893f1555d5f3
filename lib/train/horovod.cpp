#include "backend/open_device.h"
#include "train/data_parallel_trainer.h"
#include "train/device_list.h"

namespace tpack {

template <>
struct EnumNames<Compression> {
  static constexpr std::array<std::pair<const char*, Compression>, 3> kNames = {
      {{"none", Compression::kNone}, {"fp16", Compression::kFp16}, {"bf16", Compression::kBf16}}};
};

namespace {

struct HorovodParams {
  DeviceList devices = {{default_device()}};
  bool average = true;
  int64_t accumulate = 1;
  bool broadcast_every_epoch = true;
  Compression compression = Compression::kNone;
  double bucket_mb = static_cast<double>(ReplicaOptions::kDefaultBucketBytes >> 20U);
  double timeout_s = Comm::kDefaultTimeoutS;
};

/// Processes that mpirun starts, each with one tower or several; alone it is a world of one. Variables come
/// from rank 0; gradients are summed over the towers of a process, then in the order of the ranks, and
/// averaged. Source: tensorpack's HorovodTrainer.
class Horovod final : public DataParallelTrainer {
 public:
  using Params = HorovodParams;
  static Schema<Params> schema() {
    return broadcasting(accumulating(
        Schema<Params>("Trains together with the other processes of mpirun.")
            .example("Horovod: {timeout_s: 60}")
            .field("devices", &Params::devices, "devices of each process, as in SyncMultiGPU")
            .field("average", &Params::average,
                   "true: the gradient is the mean over all towers of all processes; false: the sum")
            .field("compression", &Params::compression,
                   "how gradients travel between processes: as they are, or rounded to 16 bits, as half "
                   "precision (fp16; above 65504 infinite) or as the upper half of a float (bf16)")
            .field(
                "bucket_mb", &Params::bucket_mb, between(0, 1e6),
                "MB of gradients that are summed together, as soon as backward has computed them and while "
                "it goes on; 0: all of them, after backward")
            .field("timeout_s", &Params::timeout_s, time_limit(),
                   "seconds to wait for another rank before the run ends; a rank that compiles kernels, "
                   "saves, or runs an epoch's callbacks gets more time")));
  }
  explicit Horovod(Params p) : p_(std::move(p)) {}

  void setup(const TrainSetup& setup) override {
    setup.world->set_timeout(p_.timeout_s);
    DataParallelTrainer::setup(setup);
  }

 protected:
  Choice choice() const override {
    return {.devices = p_.devices.towers(),
            .uses_world = true,
            .average = p_.average,
            .bucket_bytes = static_cast<int64_t>(p_.bucket_mb * (1 << 20)),
            .compression = p_.compression,
            .accumulate = p_.accumulate,
            .broadcast_every_epoch = p_.broadcast_every_epoch};
  }

 private:
  Params p_;
};

TPACK_REGISTER(Trainer, Horovod, "Horovod", "HorovodTrainer");

}  // namespace
}  // namespace tpack
