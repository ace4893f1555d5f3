#include "train/data_parallel_trainer.h"

#include <algorithm>
#include <numeric>

#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "core/registry.h"
#include "core/stop.h"
#include "dataflow/source.h"
#include "support/errors.h"
#include "support/small_training.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::ElementsAre;

/// Runs `steps` steps of a new training and returns all variables.
std::map<std::string, Tensor> train(const std::string& trainer, int64_t steps) {
  SmallTraining training(trainer);
  training.trainer().initialize();
  training.run(0, steps);
  return variables_of(training.trainer());
}

class Trainers : public testing::TestWithParam<const char*> {};

TEST_P(Trainers, the_cost_goes_down) {
  SmallTraining training(GetParam());
  Trainer& trainer = training.trainer();
  trainer.initialize();
  const auto is = [](const char* name, bool minimized) {
    return testing::AllOf(testing::Field(&StepStatistic::name, name),
                          testing::Field(&StepStatistic::minimized, minimized));
  };
  EXPECT_THAT(trainer.part<StepStatistics>().statistics(),
              ElementsAre(is("cost", true), is("softmax_cross_entropy", false), is("regularize", false),
                          is("accuracy", false)));
  std::vector<std::optional<Goal>> goals;
  for (const StepStatistic& statistic : trainer.part<StepStatistics>().statistics())
    goals.push_back(statistic.known_goal());
  EXPECT_THAT(goals, ElementsAre(Goal::kMin, Goal::kMin, Goal::kMin, Goal::kMax));
  std::vector<double> costs;
  for (int64_t step = 0; step < 200; ++step) {
    ASSERT_TRUE(trainer.step(step, {}));
    costs.push_back(*trainer.part<StepStatistics>().statistic(0) +
                    *trainer.part<StepStatistics>().statistic(2));  // what is minimized
  }
  const double first = std::accumulate(costs.begin(), costs.begin() + 20, 0.0);
  const double last = std::accumulate(costs.end() - 20, costs.end(), 0.0);
  EXPECT_LT(last, 0.9 * first);
}

TEST_P(Trainers, continues_bit_exactly_from_saved_content) {
  const auto whole = train(GetParam(), 12);
  CheckpointContent content;
  {
    SmallTraining training(GetParam());
    training.trainer().initialize();
    training.run(0, 7);
    content = training.saved();
  }
  SmallTraining training(GetParam());
  training.trainer().initialize();
  training.trainer().load(content, "model-7.h5");
  training.run(7, 12);
  expect_bit_equal(variables_of(training.trainer()), whole);
}

INSTANTIATE_TEST_SUITE_P(All, Trainers,
                         testing::Values("Simple", "SyncMultiGPU: {devices: [cpu:0, cpu:1]}", "Horovod"),
                         [](const auto& one) { return std::string(one.param).substr(0, 6); });

class DataParallelTrainerTest : public testing::Test {
 protected:
  CheckpointContent content_after(int64_t steps) {
    training_.trainer().initialize();
    training_.run(0, steps);
    return training_.saved();
  }
  static std::string error_of_load(const CheckpointContent& content, const std::string& trainer = "Simple") {
    SmallTraining other(trainer);
    other.trainer().initialize();
    return error_from<CheckpointError>([&] { other.trainer().load(content, "model-3.h5"); });
  }

  SmallTraining training_;
};

TEST_F(DataParallelTrainerTest, knows_its_sizes) {
  training_.trainer().initialize();
  EXPECT_EQ(training_.trainer().part<StepData>().steps_per_pass(), 5);  // 22 samples, batches of 4
  EXPECT_EQ(training_.trainer().part<StepData>().step_size().batch, 4);
  EXPECT_EQ(training_.trainer().part<StepData>().step_size().towers, 1);
}

TEST_F(DataParallelTrainerTest, counts_the_samples_of_smaller_batches_too) {
  SmallTraining training(small_flow(22, "- BatchData: {batch_size: 4, remainder: true}"));
  training.trainer().initialize();
  training.run(0, 6);
  EXPECT_EQ(training.trainer().part<StepData>().samples(), 22);
}

TEST_F(DataParallelTrainerTest, says_what_does_not_fit_when_it_resumes) {
  const std::string kAdvice = "; resume with the same value, or start a new run with these weights (init)";
  const CheckpointContent good = content_after(3);
  CheckpointContent missing = good;
  missing.tensors.erase("model/fc1/W");
  EXPECT_TRUE(
      says(error_of_load(missing), {"model-3.h5", "has no model/fc1/W", "to start with its weights, use"}));
  CheckpointContent other = good;
  other.tensors["model/fc1/W"] = Tensor::zeros({DType::kFloat32, {7, 4}});
  EXPECT_TRUE(says(error_of_load(other),
                   {"model-3.h5", "model/fc1/W is float32 [7, 4], but", "to load parts of another"}));
  EXPECT_TRUE(says(error_of_load(good, "SyncMultiGPU: {devices: [cpu:0, cpu:1]}"),
                   {"model-3.h5", "was made with 1 batches in each", "resume with a different number"}));
  CheckpointContent of_another_batch = good;
  of_another_batch.texts["data/json"] = SmallTraining("Simple", 2).state_of_new_data();
  EXPECT_EQ(error_of_load(of_another_batch),
            "model-3.h5: was made with batch_size 2, this run has 4" + kAdvice);
  CheckpointContent of_another_seed = good;
  std::string& state = of_another_seed.texts["data/json"];
  const std::string seed = "\"seed\": ";
  ASSERT_NE(state.find(seed), std::string::npos) << state;
  state.insert(state.find(seed) + seed.size() + (state[state.find(seed) + seed.size()] == '"' ? 1 : 0), "7");
  EXPECT_EQ(error_of_load(of_another_seed), "model-3.h5: was made with seed 75, this run has 5" + kAdvice);
}

TEST_F(DataParallelTrainerTest, rejects_positions_that_no_run_has) {
  const CheckpointContent good = content_after(3);
  for (const auto& [name, value] :
       {std::pair("pass", "-1"), {"index", "-1"}, {"index", "9223372036854775807"}}) {
    CheckpointContent bad = good;
    auto state = nlohmann::json::parse(bad.texts.at("data/json"));
    state[name] = value;
    bad.texts["data/json"] = state.dump();
    EXPECT_TRUE(
        says(error_of_load(bad), {"model-3.h5: is damaged", "'" + std::string(name) + "' is " + value}));
  }
}

/// Samples that come once and never again, as from a socket.
class Radio final : public SequentialSource {
 public:
  using Params = NoParams;
  static Schema<Params> schema() { return Schema<Params>("Cannot be heard again."); }
  explicit Radio(Params /*p*/) {}

  Spec spec() const override { return {{"x", {DType::kFloat32, {5}}}, {"label", {DType::kInt32, {}}}}; }
  Seek seek() const override { return Seek::kNone; }
  std::unique_ptr<Cursor> open(const PassKey& /*pass*/, uint64_t /*stage*/) const override {
    return std::make_unique<Reading>();
  }

 private:
  class Reading final : public Cursor {
   public:
    bool next(Datapoint& out) override {
      out.resize(2);
      std::ranges::fill(out.renew(0, {DType::kFloat32, {5}}).span<float>(), 1.0F);
      *out.renew(1, {DType::kInt32, {}}).data<int32_t>() = 1;
      return true;
    }
  };
};

TPACK_REGISTER(Source, Radio, "Radio");

TEST_F(DataParallelTrainerTest, rejects_to_go_on_with_data_that_cannot_be_read_again) {
  const auto training = [] {
    return std::make_unique<SmallTraining>(
        make_flow(parse_yaml("[Radio, {BatchData: {batch_size: 4}}]", "test.yaml")));
  };
  const auto saved_after = [&](int64_t steps) {
    const auto first = training();
    first->trainer().initialize();
    first->run(0, steps);
    return first->saved();
  };
  const auto second = training();
  second->trainer().initialize();
  EXPECT_TRUE(says(error_from<CheckpointError>([&] { second->trainer().load(saved_after(3), "model-3.h5"); }),
                   {"model-3.h5", "data.train cannot continue from a position"}));
  EXPECT_NO_THROW(second->trainer().load(saved_after(0), "model-0.h5"));
}

TEST_F(DataParallelTrainerTest, steps_per_epoch_moves_callbacks_never_the_data) {
  std::vector<std::map<std::string, Tensor>> ends;
  for (const int64_t steps_per_epoch : {1, 3, 12}) {
    SmallRun run({.max_epoch = 12 / steps_per_epoch, .steps_per_epoch = steps_per_epoch});
    run.go();
    ends.push_back(variables_of(run.training.trainer()));
  }
  expect_bit_equal(ends[0], ends[1]);
  expect_bit_equal(ends[0], ends[2]);
}

TEST_F(DataParallelTrainerTest, a_run_of_the_loop_resumed_in_mid_epoch_ends_with_the_same_bits) {
  const RunLength length{.max_epoch = 3, .steps_per_epoch = 5};
  SmallRun whole_run(length);
  whole_run.add("MovingAverageSummary").go();

  const TemporaryFolder folder;
  SmallRun first_run(length, folder.str());
  std::stop_source source;
  first_run.options.interrupt = source.get_token();
  first_run.add("MovingAverageSummary").on_step("stop", [&](tpack::Run& run) {
    if (run.global_step() == 8) source.request_stop();
  });
  ASSERT_EQ(first_run.go().ending, StopReason::kInterrupted);

  SmallRun second_run(length);
  int steps = 0;
  second_run.add("MovingAverageSummary")
      .on_step("count", [&](tpack::Run&) { ++steps; })
      .go_on_from(folder / "checkpoints/model-8.h5");
  EXPECT_EQ(steps, 15 - 8);
  expect_bit_equal(variables_of(second_run.training.trainer()), variables_of(whole_run.training.trainer()));
  for (const char* name : {"cost", "accuracy"}) {
    EXPECT_EQ(second_run.monitors.get_history(name), whole_run.monitors.get_history(name)) << name;
  }
}

/// Feed, in which a signal comes once the first batch is there.
class CutInput final : public InputSource {
 public:
  using Params = NoParams;
  static Schema<Params> schema() { return Schema<Params>("Feed that is asked to stop after a batch."); }
  explicit CutInput(Params /*p*/) {}
  std::unique_ptr<InputReader> open(const InputSetup& setup) const override {
    return std::make_unique<Reader>(Registry<InputSource>::make("Feed")->open(setup));
  }
  static inline std::stop_source signal;

 private:
  class Reader final : public InputReader {
   public:
    explicit Reader(std::unique_ptr<InputReader> inner) : inner_(std::move(inner)) {}
    bool next(const std::stop_token& stop) override {
      const bool is_there = inner_->next(stop);
      signal.request_stop();
      return is_there;
    }
    std::span<const Tensor> tensors() const override { return inner_->tensors(); }
    DataPosition position() const override { return inner_->position(); }
    double waited_s() const override { return inner_->waited_s(); }

   private:
    std::unique_ptr<InputReader> inner_;
  };
};

TPACK_REGISTER(InputSource, CutInput, "Cut");

/// Otherwise moving averages would have seen its first batches twice when the run goes on.
TEST(DataParallelTrainer, a_step_that_has_a_batch_gets_all_of_them) {
  CutInput::signal = std::stop_source();
  SmallTraining training(small_flow(64, "- BatchData: {batch_size: 4}"), "Simple: {accumulate: 3}",
                         "Adam: {learning_rate: 0.01}", EngineSettings::Backend::kReference, make_self_comm(),
                         model_of(kSmallModel), "Cut");
  training.trainer().initialize();
  EXPECT_TRUE(training.trainer().step(0, CutInput::signal.get_token()));
  EXPECT_THROW(training.trainer().step(1, CutInput::signal.get_token()), Stopped);
  EXPECT_EQ(training.trainer().part<StepData>().samples(), 12);
}

}  // namespace
}  // namespace tpack
