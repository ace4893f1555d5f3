#include "backend/open_device.h"
#include "train/data_parallel_trainer.h"
#include "train/device_list.h"

// The trainers that train a model by gradients: what each chooses, and its fields.
namespace tpack {

template <>
struct EnumNames<ReplicaOptions::Variables> {
  static constexpr std::array<std::pair<const char*, ReplicaOptions::Variables>, 2> kNames = {
      {{"replicated", ReplicaOptions::Variables::kReplicated},
       {"parameter_server", ReplicaOptions::Variables::kShared}}};
};
template <>
struct EnumNames<Compression> {
  static constexpr std::array<std::pair<const char*, Compression>, 3> kNames = {
      {{"none", Compression::kNone}, {"fp16", Compression::kFp16}, {"bf16", Compression::kBf16}}};
};

namespace {

/// Registers a DataParallelTrainer under the schema of P, which has a `choice()`.
template <class P>
class Chosen final : public DataParallelTrainer {
 public:
  using Params = P;
  static Schema<P> schema() { return P::schema(); }
  explicit Chosen(const P& p) : DataParallelTrainer(p.choice()) {}
};

template <class P>
Schema<P> accumulating(Schema<P> schema) {
  return schema.field(
      "accumulate", &P::accumulate, at_least(1),
      "batches of each tower in a step; the variables are updated once, with the mean of their gradients");
}

template <class P>
Schema<P> broadcasting(Schema<P> schema) {
  return schema.field(
      "broadcast_every_epoch", &P::broadcast_every_epoch,
      "copy the variables of the first tower to all others before each epoch, not only before the first one; "
      "weights are equal on all towers anyway, but each tower has moving averages of its own batches");
}

struct Simple {
  Ref<DeviceName> device = default_device();
  int64_t accumulate = 1;

  DataParallelTrainer::Choice choice() const { return {.devices = {device}, .accumulate = accumulate}; }
  static Schema<Simple> schema() {
    return accumulating(
        Schema<Simple>("Trains on one device.")
            .example("Simple: {accumulate: 4}")
            .field("device", &Simple::device, "the device: cpu:0 for all processors of this process"));
  }
};

struct SyncMultiGpu {
  DeviceList devices;
  ReplicaOptions::Variables mode = ReplicaOptions::Variables::kReplicated;
  bool average = true;
  int64_t accumulate = 1;
  bool broadcast_every_epoch = true;

  DataParallelTrainer::Choice choice() const {
    return {.devices = devices.towers(),
            .variables = mode,
            .average = average,
            .accumulate = accumulate,
            .broadcast_every_epoch = broadcast_every_epoch};
  }
  static Schema<SyncMultiGpu> schema() {
    return broadcasting(
        accumulating(Schema<SyncMultiGpu>(
                         "Trains towers on several devices of one machine, which update the same variables.")
                         .example("SyncMultiGPU: {devices: [cpu:0, cpu:1]}")
                         .field("devices", &SyncMultiGpu::devices,
                                "devices with one tower each, or their number: 2 is [cpu:0, cpu:1], two "
                                "halves of the processors; default: one for each memory node of the machine")
                         .shorthand()
                         .field("mode", &SyncMultiGpu::mode,
                                "replicated: each tower has a copy of all weights; parameter_server: only "
                                "the first tower has weights, and the others read them. The results are the "
                                "same; replicated needs more memory")
                         .field("average", &SyncMultiGpu::average,
                                "true: the gradient is the mean over the towers; false: the sum")));
  }
};

struct Horovod {
  DeviceList devices = {{default_device()}};
  bool average = true;
  int64_t accumulate = 1;
  bool broadcast_every_epoch = true;
  Compression compression = Compression::kNone;
  double bucket_mb = static_cast<double>(ReplicaOptions::kDefaultBucketBytes >> 20U);
  double timeout_s = Comm::kDefaultTimeoutS;

  DataParallelTrainer::Choice choice() const {
    return {.devices = devices.towers(),
            .uses_world = true,
            .average = average,
            .bucket_bytes = static_cast<int64_t>(bucket_mb * (1 << 20)),
            .compression = compression,
            .accumulate = accumulate,
            .broadcast_every_epoch = broadcast_every_epoch,
            .timeout_s = timeout_s};
  }
  static Schema<Horovod> schema() {
    return broadcasting(accumulating(
        Schema<Horovod>("Trains together with the other processes of mpirun.")
            .example("Horovod: {timeout_s: 60}")
            .field("devices", &Horovod::devices, "devices of each process, as in SyncMultiGPU")
            .field("average", &Horovod::average,
                   "true: the gradient is the mean over all towers of all processes; false: the sum")
            .field("compression", &Horovod::compression,
                   "format of gradients between processes: unchanged, or rounded to 16 bits, as half "
                   "precision (fp16; above 65504 infinite) or as the upper half of a float (bf16)")
            .field("bucket_mb", &Horovod::bucket_mb, between(0, 1e6),
                   "MB of gradients that are summed together as soon as backward has computed them, while it "
                   "continues; 0: all of them, after backward")
            .field("timeout_s", &Horovod::timeout_s, time_limit(),
                   "seconds to wait for another rank before the run ends; a rank that compiles kernels, "
                   "saves, or runs an epoch's callbacks gets more time")));
  }
};

struct AsyncMultiGpu {
  DeviceList devices;
  bool scale_gradient = true;

  DataParallelTrainer::Choice choice() const {
    return {.devices = devices.towers(), .average = scale_gradient, .asynchronous = true};
  }
  static Schema<AsyncMultiGpu> schema() {
    return Schema<AsyncMultiGpu>(
               "Trains towers on several devices that do not wait for each other: each applies its gradient "
               "to the shared variables when it is ready. Steps are those of the first tower. Results differ "
               "from run to run.")
        .example("AsyncMultiGPU: {devices: [cpu:0, cpu:1]}")
        .field("devices", &AsyncMultiGpu::devices,
               "devices with one tower each, or their number, as in SyncMultiGPU")
        .shorthand()
        .field("scale_gradient", &AsyncMultiGpu::scale_gradient,
               "true: divides each gradient by the number of towers");
  }
};

/// One device: backward and update, one after the other.
using SimpleTrainer = Chosen<Simple>;
/// A tower on each device, each with a different batch; gradients are summed in a fixed order and averaged.
/// The total batch is batch_size times the number of devices. Source: tensorpack's
/// SyncMultiGPUTrainerReplicated and SyncMultiGPUTrainerParameterServer.
using SyncMultiGpuTrainer = Chosen<SyncMultiGpu>;
/// Processes started by mpirun, each with one or more towers; without mpirun, a single process. Variables
/// come from rank 0; gradients are summed over the towers of a process, then in the order of the ranks, and
/// averaged. Source: tensorpack's HorovodTrainer.
using HorovodTrainer = Chosen<Horovod>;
/// Towers that do not wait for each other (AsyncParallel). Source: tensorpack's AsyncMultiGPUTrainer.
using AsyncMultiGpuTrainer = Chosen<AsyncMultiGpu>;
TPACK_REGISTER(Trainer, SimpleTrainer, "Simple", "SimpleTrainer", "QueueInputTrainer");
TPACK_REGISTER(Trainer, SyncMultiGpuTrainer, "SyncMultiGPU", "SyncMultiGPUTrainer",
               "SyncMultiGPUTrainerReplicated",
               Variant{"SyncMultiGPUTrainerParameterServer", "mode", "parameter_server"});
TPACK_REGISTER(Trainer, HorovodTrainer, "Horovod", "HorovodTrainer");
TPACK_REGISTER(Trainer, AsyncMultiGpuTrainer, "AsyncMultiGPU", "AsyncMultiGPUTrainer");

}  // namespace
}  // namespace tpack
