#include <cmath>

#include <gmock/gmock-more-matchers.h>

#include "predict/evaluator.h"
#include "support/errors.h"
#include "support/live_fields.h"
#include "support/small_training.h"

namespace tpack {
namespace {

TEST(NoOp, changes_nothing_but_counts_steps_and_runs_callbacks) {
  SmallTraining training("NoOp");
  const auto before = variables_of(training.trainer());
  int triggers = 0;
  TestRun run({.max_epoch = 2, .steps_per_epoch = 3}, training.trainer());
  run.on_trigger("count", [&](tpack::Run& here) {
    ++triggers;
    EXPECT_EQ(here.global_step(), 3 * triggers);
  });
  run.go();
  EXPECT_EQ(triggers, 2);
  expect_bit_equal(variables_of(training.trainer()), before);
}

TEST(NoOp, has_the_model_on_its_device_and_the_length_of_the_data) {
  SmallTraining training("NoOp");
  ASSERT_TRUE(training.trainer().part<TrainedModel>().model_handle());
  EXPECT_EQ(training.trainer().part<StepData>().steps_per_pass(), 5);
  EXPECT_THROW(SmallTraining("NoOp: {device: cpu:3}"), ConfigError);
}

TEST(NoOp, keeps_its_variables_in_checkpoints) {
  SmallTraining one("NoOp");
  one.trainer().part<TrainedVariables>().variables()->value("fc1/b").data<float>()[0] = 42;
  SmallTraining other("NoOp");
  other.trainer().load(one.saved(), "model-0.h5");
  expect_bit_equal(variables_of(other.trainer()), variables_of(one.trainer()));
}

TEST(NoOp, lets_callbacks_run_the_model_and_look_at_its_variables) {
  const std::string fields = "{variables: [fc1/W], types: [mean, rms]}";
  const DataFlow validation = small_flow(11, "- BatchData: {batch_size: 4, remainder: true}");
  SmallTraining training("NoOp");
  training.trainer().initialize();
  const Tensor weights = training.trainer().part<TrainedVariables>().variables()->value("fc1/W").clone();
  const auto figures =
      Evaluator("validation", *training.trainer().part<TrainedModel>().model_handle(), validation, 9).run();
  TestRun run({.max_epoch = 2, .steps_per_epoch = 3}, training.trainer());
  run.options.flows = {{"validation", validation}};
  run.options.seed = 9;
  run.add("TensorSummary", parse_yaml(fields, "n.yaml")).add("InferenceRunner", {{"data", "validation"}});
  run.go();
  double sum = 0;
  double squares = 0;
  for (int64_t i = 0; i < weights.elements(); ++i) {
    sum += weights.at(i);
    squares += weights.at(i) * weights.at(i);
  }
  const auto count = static_cast<double>(weights.elements());
  EXPECT_THAT(run.values("fc1/W-mean"), testing::ElementsAre(testing::DoubleNear(sum / count, 1e-7),
                                                             testing::DoubleNear(sum / count, 1e-7)));
  EXPECT_NEAR(run.values("fc1/W-rms").at(1), std::sqrt(squares / count), 1e-7);
  ASSERT_FALSE(figures.empty());
  for (const auto& [name, value] : figures)
    EXPECT_THAT(run.values("validation_" + name), testing::ElementsAre(value, value)) << name;
}

/// It takes no batches, so there is nothing to compute outputs of.
TEST(NoOp, rejects_callbacks_that_look_at_the_batches_of_training) {
  for (const char* callback : {"TensorSummary", "DumpTensors"}) {
    SmallRun run({.max_epoch = 1, .steps_per_epoch = 1}, "", "NoOp");
    run.add(callback, parse_yaml("{outputs: [fc0]}", "n.yaml"));
    EXPECT_TRUE(
        says(error_from([&] { run.go(); }), {"n.yaml:1:12: outputs are computed for training batches"}));
  }
}

TEST(NoOp, reports_no_gradients) {
  SmallRun run({.max_epoch = 1, .steps_per_epoch = 1}, "", "NoOp");
  run.add("TensorSummary", parse_yaml("{variables: [fc1/W], gradients: [fc1/W], types: [rms]}", "n.yaml"))
      .go();
  EXPECT_EQ(run.values("fc1/W-rms").size(), 1U);
  EXPECT_THAT(run.values("gradient/fc1/W-rms"), testing::IsEmpty());
}

TEST(NoOp, needs_no_section) {
  const Trainer::Needs needs = Registry<Trainer>::make("NoOp")->needs();
  EXPECT_FALSE(needs.data || needs.model || needs.optimizer);
}

const live::Fields kNoOp("trainer", "NoOp", {.values = {{"device", "apart:0"}}});

}  // namespace
}  // namespace tpack
