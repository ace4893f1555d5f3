#include <filesystem>

#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "callbacks/callback_scenes.h"
#include "callbacks/give_scalar.h"
#include "core/text.h"
#include "predict/evaluator.h"
#include "support/captured_log.h"
#include "support/errors.h"
#include "support/small_training.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::ElementsAre;

class InferenceRunnerTest : public testing::Test {
 protected:
  std::map<std::string, DataFlow> flows() const { return {{"validation", validation_}}; }
  std::string error_of(const std::string& params) {
    TestRun run({.max_epoch = 1, .steps_per_epoch = 1}, training_.trainer());
    run.options.flows = flows();
    run.add("InferenceRunner", parse_yaml(params, "r.yaml"));
    return error_from([&] { run.go(); });
  }

  SmallTraining training_;
  DataFlow validation_ = small_flow(11, "- BatchData: {batch_size: 4, remainder: true}");
};

TEST_F(InferenceRunnerTest, gives_the_figures_of_the_whole_flow_after_each_epoch) {
  TestRun run({.max_epoch = 2, .steps_per_epoch = 3}, training_.trainer());
  run.options.flows = flows();
  run.options.seed = 9;
  std::vector<Evaluator::Result> independent;  // one sample at a time
  const DataFlow singles = small_flow(11, "- BatchData: {batch_size: 1}");
  const auto evaluate = [&](tpack::Run& at) {
    independent.push_back(Evaluator("singles", at.model_handle(), singles, 9).run());
  };
  run.on_trigger("independent", evaluate);
  run.add("InferenceRunner", {{"data", "validation"}}).go();
  EXPECT_THAT(run.monitors.names(),
              ElementsAre("validation_accuracy", "validation_cost", "validation_softmax_cross_entropy"));
  for (size_t epoch = 0; epoch < 2; ++epoch) {
    EXPECT_NEAR(run.values("validation_cost")[epoch], independent[epoch][0].second, 1e-6);
    EXPECT_NEAR(run.values("validation_accuracy")[epoch], independent[epoch][2].second, 1e-12);
  }
  EXPECT_NE(run.values("validation_cost")[0], run.values("validation_cost")[1]);
}

TEST_F(InferenceRunnerTest, gives_only_the_metrics_that_are_named) {
  TestRun run({.max_epoch = 1, .steps_per_epoch = 1}, training_.trainer());
  run.options.flows = flows();
  run.add("InferenceRunner", parse_yaml("{data: validation, metrics: [accuracy]}", "r.yaml")).go();
  EXPECT_THAT(run.monitors.names(), ElementsAre("validation_accuracy"));
}

TEST_F(InferenceRunnerTest, shows_what_it_said_of_classes_at_the_end_and_writes_it) {
  const TemporaryFolder folder;
  const CapturedLog log;
  for (const char* item : {"InferenceRunner", "DataParallelInferenceRunner"}) {
    TestRun run({.max_epoch = 1, .steps_per_epoch = 1}, training_.trainer(), folder.str());
    run.options.flows = flows();
    run.add(item, parse_yaml("{data: validation}", "r.yaml")).go();
    const auto json = nlohmann::json::parse(content_of(folder / "reports/validation_confusion.json"));
    EXPECT_EQ(json["samples"], 11);
    EXPECT_NEAR(json["accuracy"].get<double>(), run.values("validation_accuracy")[0], 1e-6);
    EXPECT_THAT(content_of(folder / "reports/validation_confusion.svg"), testing::HasSubstr("predicted"));
    EXPECT_THAT(log.text(), testing::HasSubstr("validation after global_step 1, by class"));
    std::filesystem::remove_all(folder / "reports");
  }
}

TEST_F(InferenceRunnerTest, gives_figures_of_one_class) {
  TestRun run({.max_epoch = 1, .steps_per_epoch = 1}, training_.trainer());
  const TemporaryFolder folder;
  run.options.flows = flows();
  run.options.folder = folder.str();
  run.add("InferenceRunner", parse_yaml("{data: validation, metrics: [cost, recall.1, f1.2]}", "r.yaml"))
      .go();
  EXPECT_THAT(run.monitors.names(), ElementsAre("validation_cost", "validation_f1.2", "validation_recall.1"));
  const auto json = nlohmann::json::parse(content_of(folder / "reports/validation_confusion.json"));
  EXPECT_EQ(run.values("validation_recall.1")[0], json["classes"][1]["recall"]);
  EXPECT_EQ(run.values("validation_f1.2")[0], json["classes"][2]["f1"]);
}

/// The report of each evaluation, by its step, next to what is shown in the end.
TEST_F(InferenceRunnerTest, shows_the_tables_of_weights_that_are_restored) {
  const TemporaryFolder folder;
  const CapturedLog log;
  TestRun run({.max_epoch = 5, .steps_per_epoch = 1}, training_.trainer(), folder.str());
  run.options.flows = flows();
  run.add("InferenceRunner", {{"data", "validation"}});
  run.add("give", give("figure", {5, 4, 6, 7, 8}));
  run.add("EarlyStop", parse_yaml("{monitor: figure, mode: min, patience: 2, restore_best: true}", "s.yaml"));
  const LoopResult result = run.go();
  EXPECT_EQ(result.restored_step, 2);
  EXPECT_TRUE(says(log.text(), {"validation after global_step 2, the weights of the model"}));
  const auto json = nlohmann::json::parse(content_of(folder / "reports/validation_confusion.json"));
  EXPECT_NEAR(json["accuracy"].get<double>(), run.values("validation_accuracy")[1], 1e-6);
}

/// FakeData has labels from 0 to 2.
TEST_F(InferenceRunnerTest, names_the_data_that_makes_a_figure_nan) {
  const CapturedLog log;
  const std::string model =
      "inputs:\n  x: {shape: [5]}\n  label: {shape: [], dtype: int32}\n"
      "layers:\n  - FullyConnected: {name: fc0, units: 2, input: x}\n"
      "cost:\n  - SoftmaxCrossEntropy: {logits: fc0, labels: label}\n"
      "metrics:\n  - Accuracy: {logits: fc0, labels: label}\n";
  for (const char* item :
       {"InferenceRunner: {data: validation}", "DataParallelInferenceRunner: {data: validation}"}) {
    SmallTraining training(small_flow(4, "- BatchData: {batch_size: 4}"), "SyncMultiGPU: {devices: 2}",
                           "Adam: {learning_rate: 0.01}", EngineSettings::Backend::kReference,
                           make_self_comm(), model_of(model));
    TestRun run({.max_epoch = 1, .steps_per_epoch = 1}, training.trainer());
    run.options.flows = flows();
    run.add("probed", callback_of(item)).go();
  }
  int warnings = 0;
  for (const std::string& line : split(log.text(), '\n')) {
    if (!line.starts_with("warning")) continue;
    ++warnings;
    EXPECT_TRUE(says(line, {"validation_cost is nan", "'label' (test.yaml:3:3) has 2 at [3] of batch 1",
                            "component 'label' of data.validation must be from 0 to 1"}));
  }
  EXPECT_EQ(warnings, 2);
}

TEST_F(InferenceRunnerTest, does_not_change_what_is_trained) {
  SmallRun without({.max_epoch = 2, .steps_per_epoch = 3});
  without.go();
  TestRun with({.max_epoch = 2, .steps_per_epoch = 3}, training_.trainer());
  with.options.flows = flows();
  with.add("InferenceRunner", {{"data", "validation"}}).go();
  expect_bit_equal(variables_of(without.training.trainer()), variables_of(training_.trainer()));
}

TEST_F(InferenceRunnerTest, lets_a_saver_keep_the_best) {
  const TemporaryFolder folder;
  TestRun run({.max_epoch = 2, .steps_per_epoch = 3}, training_.trainer(), folder.str());
  run.options.flows = flows();
  run.add("InferenceRunner", {{"data", "validation"}});
  run.add("MinSaver", {{"monitor", "validation_cost"}}).go();
  EXPECT_TRUE(std::filesystem::exists(folder / "checkpoints/min-validation_cost.h5"));
}

TEST_F(InferenceRunnerTest, says_what_is_wrong_before_training) {
  EXPECT_TRUE(says(error_of("{data: validaton}"), {"r.yaml:1:8:", "did you mean 'validation'?"}));
  EXPECT_TRUE(
      says(error_of("{data: validation, metrics: [acuracy, regularize]}"),
           {"r.yaml:1:30:", "did you mean 'accuracy'?", "r.yaml:1:39:", "'regularize'; known: cost"}));
  validation_ = small_flow(11, "- BatchData: {batch_size: 4}");
  EXPECT_TRUE(
      says(error_of("{data: validation}"), {"r.yaml:1:8:", "'validation' drops 3 of 11", "remainder: true"}));
}

TEST(InferenceRunner, needs_a_trainer_with_a_model) {
  FakeRun run({.max_epoch = 1, .steps_per_epoch = 1});
  run.options.flows = {{"validation", small_flow(4, "- BatchData: {batch_size: 2}")}};
  run.add("InferenceRunner", {{"data", "validation"}});
  EXPECT_THROW(run.go(), ConfigError);
}

}  // namespace
}  // namespace tpack
