
#include <gmock/gmock-matchers.h>

#include "support/live_fields.h"
#include "support/model_with_state.h"
#include "support/on_ranks.h"
#include "support/small_training.h"
#include "train/data_parallel_trainer.h"

namespace tpack {
namespace {

// Several ranks: tests/parallel/data_parallel_test.cpp under mpirun.
TEST(Horovod, alone_is_a_world_of_one_with_the_bits_of_simple) {
  SmallTraining simple("Simple");
  SmallTraining horovod("Horovod");
  for (SmallTraining* training : {&simple, &horovod}) {
    training->trainer().initialize();
    training->run(0, 10);
  }
  EXPECT_EQ(horovod.trainer().part<StepData>().step_size().ranks, 1);
  expect_bit_equal(variables_of(simple.trainer()), variables_of(horovod.trainer()));
}

/// The local variables of every replica after the steps of a training of 2 ranks with 2 towers each, and a
/// checkpoint of the chief's.
struct RanksWithState {
  std::map<int64_t, Tensor> traces;  // by replica
  CheckpointContent content;
  std::map<std::string, Tensor> variables;  // of the chief
};

RanksWithState run_ranks_with_state(int64_t begin, int64_t end, const CheckpointContent* from) {
  RanksWithState all;
  std::mutex mutex;
  on_ranks(2, [&](int rank, std::unique_ptr<Comm> comm) {
    SmallTraining training(small_flow(40, "- BatchData: {batch_size: 4}"), "Horovod: {devices: 2}",
                           "Adam: {learning_rate: 0.01}", EngineSettings::Backend::kReference,
                           std::move(comm), std::make_unique<ModelWithState>());
    Trainer& trainer = training.trainer();
    trainer.initialize();
    if (from != nullptr) trainer.load(*from, "model-7.h5");
    for (int64_t step = begin; step < end; ++step) EXPECT_TRUE(trainer.step(step, {}));
    EXPECT_TRUE(trainer.part<ReplicaState>().saves_together());
    trainer.part<ReplicaState>().gather();
    const Replicas& replicas = dynamic_cast<DataParallelTrainer&>(trainer).replicas();
    const std::scoped_lock lock(mutex);
    for (size_t k = 0; k < replicas.local_towers(); ++k)
      all.traces[replicas.replica(k)] = replicas.device(k).variables().value("trace").clone();
    if (rank != 0) return;
    all.content = training.saved();
    all.variables = variables_of(trainer);
  });
  return all;
}

TEST(Horovod, saves_the_local_variables_of_each_replica_and_goes_on_with_them) {
  const RanksWithState whole = run_ranks_with_state(0, 12, nullptr);
  const RanksWithState first = run_ranks_with_state(0, 7, nullptr);
  EXPECT_TRUE(bit_equal(first.content.tensors.at("local/trace"), first.traces.at(0)));
  std::set<double> different;
  for (int64_t replica = 1; replica < 4; ++replica) {
    const Tensor& trace = first.traces.at(replica);
    different.insert(trace.at(0));
    EXPECT_TRUE(
        bit_equal(first.content.tensors.at("replicas/" + std::to_string(replica) + "/local/trace"), trace));
  }
  EXPECT_EQ(different.size(), 3U);
  const RanksWithState second = run_ranks_with_state(7, 12, &first.content);
  for (const auto& [replica, trace] : whole.traces)
    EXPECT_TRUE(bit_equal(second.traces.at(replica), trace)) << "replica " << replica;
  expect_bit_equal(second.variables, whole.variables);
}

/// Data of which each replica has another number of batches, as from a socket.
class UnequalInput final : public InputSource {
 public:
  using Params = NoParams;
  static Schema<Params> schema() {
    return Schema<Params>("Feed with 2 batches for the last replica, 5 for others.");
  }
  explicit UnequalInput(Params /*p*/) {}
  std::unique_ptr<InputReader> open(const InputSetup& setup) const override {
    const bool last = setup.replica + 1 == setup.replicas;
    return std::make_unique<Reader>(Registry<InputSource>::make("Feed")->open(setup), last ? 2 : 5);
  }

 private:
  class Reader final : public InputReader {
   public:
    Reader(std::unique_ptr<InputReader> inner, int batches) : inner_(std::move(inner)), left_(batches) {}
    bool next(const std::stop_token& stop) override { return left_-- > 0 && inner_->next(stop); }
    std::span<const Tensor> tensors() const override { return inner_->tensors(); }
    DataPosition position() const override { return inner_->position(); }
    double waited_s() const override { return inner_->waited_s(); }

   private:
    std::unique_ptr<InputReader> inner_;
    int left_;
  };
};

TPACK_REGISTER(InputSource, UnequalInput, "Unequal");

TEST(Horovod, ends_on_all_ranks_where_the_data_of_one_end_and_says_which) {
  const auto ends = on_ranks(2, [](int /*rank*/, std::unique_ptr<Comm> comm) {
    SmallTraining training(small_flow(64, "- BatchData: {batch_size: 4}"), "Horovod: {devices: 2}",
                           "Adam: {learning_rate: 0.01}", EngineSettings::Backend::kReference,
                           std::move(comm), model_of(kSmallModel), "Unequal");
    training.trainer().initialize();
    int64_t step = 0;
    while (training.trainer().step(step, {})) ++step;
    return training.trainer().part<StepData>().end_of_data() + " after " + std::to_string(step);
  });
  EXPECT_THAT(ends, testing::Each("the data of tower 1 of rank 1 ended after 2"));
}

// What happens between processes: DataParallelRanks.sum_buckets_during_backward.
const live::Fields kHorovod("trainer", "Horovod",
                            {.base = "{devices: 2}",
                             .values = {{"devices", "[cpu:0]"}},
                             .left_out = {{"compression", "one process compresses nothing"},
                                          {"bucket_mb", "one process has no buckets"}}});

}  // namespace
}  // namespace tpack
