#include <set>

#include <gmock/gmock-matchers.h>

#include "callbacks/callback_scenes.h"
#include "model/cost.h"
#include "predict/bad_input.h"
#include "support/errors.h"
#include "support/poisoned_input.h"
#include "support/temporary_folder.h"
#include "tensor/finite.h"

/// What CheckNumerics does about a step whose gradient is NaN or infinite.
namespace tpack {
namespace {

using testing::HasSubstr;

constexpr const char* kWithBatchNorm = R"(
inputs:
  x: {shape: [5]}
  label: {shape: [], dtype: int32}
layers:
  - FullyConnected: {name: fc0, units: 7}
  - Elementwise: {name: squares, expression: x * x}
  - BatchNorm: {name: bn}
  - FullyConnected: {name: fc1, units: 3}
cost:
  - SoftmaxCrossEntropy: {logits: fc1, labels: label}
)";

constexpr const char* kInputs = "inputs:\n  x: {shape: [5]}\n  label: {shape: [], dtype: int32}\n";

/// A training of 44 samples, in batches of 4, in which some are bad.
struct BadTraining : SmallTraining {
  explicit BadTraining(const std::string& input = "Poisoned: {rounds: [2]}",
                       const std::string& trainer = "Simple", const std::string& model = kWithBatchNorm)
      : SmallTraining(small_flow(44, "- BatchData: {batch_size: 4}"), trainer, "Adam: {learning_rate: 0.01}",
                      EngineSettings::Backend::kReference, make_self_comm(), model_of(model), input) {}
};

/// The end of a run of this many steps with CheckNumerics.
std::string error_of_model(const std::string& model, int64_t steps = 11) {
  BadTraining training("Poisoned", "Simple", kInputs + model);
  TestRun run({.max_epoch = 1, .steps_per_epoch = steps}, training.trainer());
  run.add("CheckNumerics");
  return error_of_run(run);
}

std::map<std::string, Tensor> after_steps(int64_t steps, const std::string& trainer = "Simple") {
  BadTraining training("Poisoned", trainer);
  TestRun({.max_epoch = 1, .steps_per_epoch = steps}, training.trainer()).go();
  return variables_of(training.trainer());
}

bool are_finite(const std::map<std::string, Tensor>& variables) {
  return std::all_of(variables.begin(), variables.end(), [](const auto& v) { return all_finite(v.second); });
}

TEST(SkippedSteps, end_the_run_with_the_name_of_the_first_bad_tensor) {
  BadTraining training;
  TestRun run({.max_epoch = 1, .steps_per_epoch = 4}, training.trainer());
  run.add("CheckNumerics");
  EXPECT_TRUE(says(error_of_run(run), {"after global_step 2 ", "input 'x' (test.yaml:3:3) has nan",
                                       "component 'x' of data.train"}));
  expect_bit_equal(variables_of(training.trainer()), after_steps(1));  // moving averages, too
}

TEST(SkippedSteps, name_the_layer_that_makes_the_first_infinity) {
  BadTraining training("Poisoned: {rounds: [2], value: 1e+25}");
  TestRun run({.max_epoch = 1, .steps_per_epoch = 4}, training.trainer());
  run.add("CheckNumerics");
  EXPECT_THAT(error_of_run(run), HasSubstr("not applied: layer 'squares' (test.yaml:7:5) has inf at [0, 0]"));
}

TEST(SkippedSteps, name_the_function_that_makes_the_first_nan_and_how_to_keep_it_from_that) {
  for (const auto& [expression, what] :
       {std::pair("log(x * 0 - 2)", "from log of a negative number (-2); keep its argument above 0"),
        std::pair("sqrt(x * 0 - 0.5)", "from sqrt of a negative number (-0.5)"),
        std::pair("1 / (x * 0)", "from a division by 0; keep the divisor away from 0"),
        std::pair("exp(x * 0 + 100)", "from exp of a large number (100)")})
    EXPECT_TRUE(
        says(error_of_model(std::string("layers:\n  - Elementwise: {name: odd, expression: '") + expression +
                                "'}\n  - FullyConnected: {name: fc1, units: 3}\n"
                                "cost:\n  - SoftmaxCrossEntropy: {logits: fc1, labels: label}\n",
                            4),
             {what}));
}

/// The slope of a root is infinite at 0.
TEST(SkippedSteps, name_the_gradient_if_all_layers_are_finite) {
  EXPECT_TRUE(says(
      error_of_model("layers:\n  - FullyConnected: {name: fc0, units: 7}\n"
                     "  - Elementwise: {name: root, expression: 'sqrt(x * 0)'}\n"
                     "  - FullyConnected: {name: fc1, units: 3}\n"
                     "cost:\n  - SoftmaxCrossEntropy: {logits: fc1, labels: label}\n",
                     4),
      {"after global_step 1 ", "the outputs of all layers are finite", "; the gradient of variable fc0/"}));
}

/// FakeData has labels from 0 to 2.
TEST(SkippedSteps, name_a_number_that_the_model_has_nothing_for) {
  const std::string binary =
      "layers:\n  - FullyConnected: {name: fc0, units: 1, input: x}\n"
      "  - Elementwise: {name: ones, input: label, expression: 'label > 1'}\n"
      "  - Elementwise: {name: masked, input: label, expression: 'label < 2'}\n"
      "cost:\n  - SigmoidCrossEntropy: {logits: fc0, labels: ";
  for (const auto& [model, what] :
       {std::pair<std::string, std::string>("layers:\n  - FullyConnected: {name: fc0, units: 2, input: x}\n"
                                            "cost:\n  - SoftmaxCrossEntropy: {logits: fc0, labels: label}",
                                            "but there are 2 scores (cost/SoftmaxCrossEntropy)"),
        {"layers:\n  - Embedding: {name: rows, entries: 2, units: 5, input: label}\n"
         "cost:\n  - MeanSquaredError: {predictions: rows, targets: x}",
         "but there are 2 entries (rows/Gather)"},
        {binary + "label}", "but labels of SigmoidCrossEntropy are from 0 to 1"}})
    EXPECT_TRUE(says(error_of_model(model), {"input 'label' (test.yaml:3:3) has 2 at [", what,
                                             "component 'label' of data.train must be from 0 to 1"}));
  EXPECT_EQ(error_of_model(binary + "ones}"), "no error");
  EXPECT_EQ(error_of_model(binary + "label, sample_weights: masked}"), "no error") << "of weight 0";
}

TEST(BadInputs, rows_of_soft_labels_are_distributions) {
  const auto tower = model_of(
      "inputs:\n  x: {shape: [5]}\n  label: {shape: [2]}\n"
      "layers:\n  - FullyConnected: {name: fc0, units: 2, input: x}\n"
      "cost:\n  - SoftmaxCrossEntropy: {logits: fc0, labels: label}");
  const auto found = [&](std::vector<float> labels) {
    const std::vector<Tensor> batch = {Tensor::of<float>({2, 5}, std::vector<float>(10, 1)),
                                       Tensor::of<float>({2, 2}, labels)};
    const auto bad = BadInputFinder(*tower, "train").find(batch, "");
    return bad ? bad->what : "nothing";
  };
  EXPECT_EQ(found({0.25, 0.75, 1, 0}), "nothing");
  EXPECT_TRUE(says(found({0, 1, 1, 1}), {"input 'label' (test.yaml:3:3)", "the sum 2 for sample 1"}));
  EXPECT_THAT(found({-0.5, 1.5, 1, 0}), HasSubstr("has -0.5 for sample 0"));
}

/// Of a batch of four samples.
TEST(SkippedSteps, name_labels_without_two_of_a_class) {
  const std::string model = kInputs + std::string(
                                          "layers:\n  - FullyConnected: {name: fc0, units: 2, input: x}\n"
                                          "cost:\n  - TripletLoss: {embeddings: fc0, labels: label}");
  const auto error = [&](const std::string& domain) {
    SmallTraining training(
        make_flow(parse_yaml("[{FakeData: {shapes: [[5], []], dtype: [float32, int32], names: [x, label], "
                             "domain: " +
                                 domain + ", size: 44}}, {BatchData: {batch_size: 4}}]",
                             "flow.yaml")),
        "Simple", "SGD: {learning_rate: 0.01}", EngineSettings::Backend::kReference, make_self_comm(),
        model_of(model));
    TestRun run({.max_epoch = 1, .steps_per_epoch = 11}, training.trainer());
    run.add("CheckNumerics");
    return error_of_run(run);
  };
  EXPECT_TRUE(says(error("[0, 100000]"), {"input 'label' (test.yaml:3:3)", "of one class among 4",
                                          "add ClassBalanced: {component:"}));
  EXPECT_THAT(error("[0, 1]"), HasSubstr("samples of only one class among 4"));
}

/// The outputs that the examples of costs name, as layers or inputs.
constexpr const char* kForAllCosts = R"(
inputs:
  x: {shape: [5]}
  true_price: {shape: []}
  advantage: {shape: []}
  log_probability: {shape: []}
  label: {shape: [], dtype: int32}
  action: {shape: [], dtype: int32}
layers:
  - FullyConnected: {name: logits, input: x, units: 3}
  - FullyConnected: {name: policy, input: x, units: 3}
  - FullyConnected: {name: price, input: x, units: 1}
  - FullyConnected: {name: real, input: x, units: 1}
  - FullyConnected: {name: fake, input: x, units: 1}
  - FullyConnected: {name: log_count, input: x, units: 1}
  - Identity: {name: count, input: true_price}
  - FullyConnected: {name: embedding, input: x, units: 5}
  - Identity: {name: true_embedding, input: x}
  - Softmax: {name: teacher, input: policy}
  - FullyConnected: {name: borders, input: x, units: 3}
  - Identity: {name: grade, input: label}
  - FullyConnected: {name: face, input: x, units: 5}
  - Identity: {name: person, input: label}
  - FullyConnected: {name: left, input: x, units: 5}
  - FullyConnected: {name: right, input: x, units: 5}
  - Identity: {name: match, input: advantage}
cost:
  - )";
constexpr int64_t kFloatInputs = 4;

/// A training with a cost, in whose second step a number of an input is NaN, or what `value` says.
SmallTraining training_with(const std::string& cost, int64_t input, const std::string& value = "") {
  return SmallTraining(
      make_flow(
          parse_yaml("[{FakeData: {shapes: [[5], [], [], [], [], []], dtype: [float32, float32, float32, "
                     "float32, int32, int32], names: [x, true_price, advantage, log_probability, label, "
                     "action], domain: [0, 3], size: 44}}, {BatchData: {batch_size: 4}}]",
                     "flow.yaml")),
      "Simple", "SGD: {learning_rate: 0.01}", EngineSettings::Backend::kReference, make_self_comm(),
      model_of(kForAllCosts + cost), "Poisoned: {rounds: [2], input: " + std::to_string(input) + value + "}");
}

double cost_of_step_2(const std::string& cost, int64_t input, const std::string& value) {
  SmallTraining training = training_with(cost, input, value);
  TestRun({.max_epoch = 1, .steps_per_epoch = 2}, training.trainer()).go();
  return training.trainer().part<StepStatistics>().statistic(0).value();
}

class SkippedStepsOf : public testing::TestWithParam<std::string> {};

/// NaN in whatever the cost depends on: scores and predictions, and also targets, advantages, ...
TEST_P(SkippedStepsOf, are_found_for_each_input) {
  const CapturedLog log;
  const std::string cost = Registry<Cost>::table().at(GetParam(), {}).example();
  int64_t seen = 0;
  for (int64_t input = 0; input < kFloatInputs; ++input) {
    if (cost_of_step_2(cost, input, ", value: 0.5") == cost_of_step_2(cost, input, ", value: 2.5")) continue;
    ++seen;
    SmallTraining training = training_with(cost, input);
    TestRun run({.max_epoch = 1, .steps_per_epoch = 4}, training.trainer());
    run.add("CheckNumerics");
    EXPECT_TRUE(says(error_of_run(run), {"after global_step 2 the gradient"})) << cost << ", input " << input;
  }
  const std::set<std::string> of_weights_alone = {"Regularize"};
  EXPECT_EQ(seen == 0, of_weights_alone.contains(GetParam()));
}

std::vector<std::string> registered_costs() {
  std::vector<std::string> names;
  for (const ComponentInfo* info : Registry<Cost>::table().list()) names.push_back(info->name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Registry, SkippedStepsOf, testing::ValuesIn(registered_costs()),
                         [](const auto& one) { return one.param; });

TEST(SkippedSteps, say_that_not_all_batches_were_looked_at) {
  BadTraining training("Poisoned: {rounds: [3]}", "Simple: {accumulate: 2}");
  TestRun run({.max_epoch = 1, .steps_per_epoch = 4}, training.trainer());
  run.add("CheckNumerics");
  EXPECT_TRUE(says(error_of_run(run), {"finite for the last batches of", "it comes from another batch of"}));
}

/// With two batches in a step, too: back to what was before the first of them.
TEST(SkippedSteps, leave_moving_averages_as_they_were_before_all_batches) {
  const CapturedLog log;
  const std::string trainer = "Simple: {accumulate: 2}";
  BadTraining training("Poisoned: {rounds: [4]}", trainer);
  TestRun({.max_epoch = 1, .steps_per_epoch = 2}, training.trainer())
      .add("CheckNumerics", {{"policy", "skip_step"}})
      .go();
  expect_bit_equal(variables_of(training.trainer()), after_steps(1, trainer));
}

TEST(SkippedSteps, cannot_be_overlooked) {
  for (const char* item : {"EnableIf: {callback: CheckNumerics, condition: epoch > 3}",
                           "PeriodicCallback: {callback: CheckNumerics, every_k_steps: 7}",
                           "CheckNumerics: {when: epoch > 3}"}) {
    EXPECT_THAT(error_from([&] { callback_of(item); }), HasSubstr("the callback must see each step"));
  }
  EXPECT_STREQ(callback_of("CheckNumerics")->rules().ranks_are_fixed, "all skip the same steps");
}

/// From `first`, the steps of two epochs of 4 with these bad ones; the error.
std::string resumed_run(const std::string& rounds, int64_t first, int64_t most,
                        std::vector<double>& bad_steps) {
  const TemporaryFolder folder;
  const auto run_of = [&](BadTraining& training) {
    auto run = std::make_unique<TestRun>(RunLength{.max_epoch = 2, .steps_per_epoch = 4}, training.trainer(),
                                         folder.str());
    run->add("CheckNumerics", {{"policy", "skip_step"}, {"max_bad_steps", most}});
    run->add("PeriodicTrigger", parse_yaml("{callback: {ModelSaver: {keep: 9}}, every_k_steps: 1}", ""));
    return run;
  };
  BadTraining whole("Poisoned: {rounds: " + rounds + "}");
  error_of_run(*run_of(whole));
  BadTraining rest("Poisoned: {rounds: " + rounds + "}");
  const auto run = run_of(rest);
  const std::string error = error_from<Error>(
      [&] { run->go_on_from(folder / ("checkpoints/model-" + std::to_string(first) + ".h5")); });
  bad_steps = run->values("bad_steps");
  return error;
}

TEST(SkippedSteps, are_counted_on_after_a_resume) {
  const CapturedLog log;
  std::vector<double> bad_steps;
  EXPECT_EQ(resumed_run("[2, 7]", 5, 9, bad_steps), "no error");
  EXPECT_EQ(bad_steps, (std::vector<double>{1, 2}));
  EXPECT_THAT(resumed_run("[4, 5, 6]", 5, 2, bad_steps), HasSubstr("3 steps in a row had a gradient"));
}

TEST(SkippedSteps, leave_everything_as_it_was_before_them) {
  const CapturedLog log;
  BadTraining training;
  TestRun run({.max_epoch = 1, .steps_per_epoch = 2}, training.trainer());
  run.add("MovingAverageSummary").add("CheckNumerics", {{"policy", "skip_step"}});
  EXPECT_EQ(run.go().global_step, 2);
  expect_bit_equal(variables_of(training.trainer()), after_steps(1));
  EXPECT_EQ(run.values("bad_steps"), std::vector<double>{1});
  EXPECT_TRUE(std::isfinite(run.values("cost").at(0)));
  EXPECT_TRUE(says(log.text(), {"'x' (test.yaml:3:3) has nan at"}));
}

TEST(SkippedSteps, are_followed_by_others) {
  const CapturedLog log;
  BadTraining training;
  TestRun run({.max_epoch = 2, .steps_per_epoch = 3}, training.trainer());
  run.add("CheckNumerics", {{"policy", "skip_step"}});
  EXPECT_EQ(run.go().global_step, 6);
  const auto all = variables_of(training.trainer());
  EXPECT_TRUE(are_finite(all));
  EXPECT_FALSE(bit_equal(all.at("fc0/W"), after_steps(1).at("fc0/W")));
  EXPECT_EQ(run.values("bad_steps"), (std::vector<double>{1, 1}));
}

TEST(SkippedSteps, are_skipped_on_all_towers) {
  const CapturedLog log;
  for (const std::string options : {"", ", accumulate: 2", ", mode: parameter_server"}) {
    BadTraining training("Poisoned: {rounds: [3], replica: 1}", "SyncMultiGPU: {devices: 2" + options + "}");
    TestRun run({.max_epoch = 1, .steps_per_epoch = 3}, training.trainer());
    run.add("CheckNumerics", {{"policy", "skip_step"}}).go();
    EXPECT_EQ(run.values("bad_steps"), std::vector<double>{1}) << options;
    EXPECT_TRUE(are_finite(variables_of(training.trainer()))) << options;
  }
  EXPECT_THAT(log.text(), HasSubstr("has nan at [0, 0] for the batch of tower 1"));
}

TEST(SkippedSteps, are_not_applied_by_asynchronous_towers) {
  const CapturedLog log;
  BadTraining training("Poisoned: {rounds: [2]}", "AsyncMultiGPU: {devices: 2}");
  TestRun run({.max_epoch = 1, .steps_per_epoch = 4}, training.trainer());
  run.add("CheckNumerics", {{"policy", "skip_step"}}).go();
  EXPECT_EQ(run.values("bad_steps"), std::vector<double>{1});
  EXPECT_TRUE(are_finite(variables_of(training.trainer())));
}

TEST(SkippedSteps, end_the_run_if_there_are_too_many_in_a_row) {
  const CapturedLog log;
  BadTraining training("Poisoned: {rounds: [2, 4, 5, 6, 7]}");
  TestRun run({.max_epoch = 1, .steps_per_epoch = 8}, training.trainer());
  run.add("CheckNumerics", {{"policy", "skip_step"}, {"max_bad_steps", 2}});
  EXPECT_TRUE(says(error_of_run(run), {"after global_step 6 3 steps in a", "in the last one, input 'x'"}));
}

TEST(Rollback, goes_back_to_the_last_trigger) {
  const CapturedLog log;
  BadTraining training("Poisoned: {rounds: [5]}");
  TestRun run({.max_epoch = 2, .steps_per_epoch = 3}, training.trainer());
  run.add("CheckNumerics", {{"policy", "rollback"}});
  std::map<std::string, Tensor> seen;
  run.on_step("look", [&](tpack::Run& at) {
    if (at.global_step() == 5) seen = variables_of(training.trainer());
  });
  run.go();
  expect_bit_equal(seen, after_steps(3));
  EXPECT_THAT(log.text(), HasSubstr("the variables of the last trigger are restored"));
}

/// Each second step is bad, so never two in a row.
TEST(Rollback, gives_up_after_too_many_from_the_same_weights) {
  const CapturedLog log;
  BadTraining training("Poisoned: {rounds: [2, 4, 6, 8, 10]}");
  TestRun run({.max_epoch = 1, .steps_per_epoch = 11}, training.trainer());
  run.add("CheckNumerics", {{"policy", "rollback"}, {"max_bad_steps", 3}});
  EXPECT_TRUE(says(error_of_run(run), {"after global_step 8 4 steps since"}));
}

TEST(Rollback, goes_back_on_all_towers) {
  const CapturedLog log;
  BadTraining training("Poisoned: {rounds: [5], replica: 1}", "SyncMultiGPU: {devices: 2}");
  TestRun run({.max_epoch = 2, .steps_per_epoch = 3}, training.trainer());
  run.add("CheckNumerics", {{"policy", "rollback"}});
  bool has_looked = false;
  run.on_step("look", [&](tpack::Run& at) {
    if (at.global_step() != 5) return;
    const std::vector<ModelHandle> towers = at.model_handles();
    ASSERT_EQ(towers.size(), 2U);
    for (const char* name : {"fc0/W", "bn/mean/EMA"})
      EXPECT_TRUE(
          bit_equal(towers[0].device->variables().tensor(name), towers[1].device->variables().tensor(name)))
          << name;
    has_looked = true;
  });
  run.go();
  EXPECT_TRUE(has_looked);
}

TEST(Rollback, keeps_hyper_parameters) {
  const CapturedLog log;
  BadTraining training("Poisoned: {rounds: [2]}");
  TestRun run({.max_epoch = 1, .steps_per_epoch = 2}, training.trainer());
  run.on_step("set", [](tpack::Run& at) {
    if (at.global_step() == 1) at.set_hyper_parameter("learning_rate", 0.5);
  });
  run.add("CheckNumerics", {{"policy", "rollback"}}).go();
  EXPECT_EQ(training.trainer().part<TrainedVariables>().hyper_parameter("learning_rate"), 0.5F);
}

TEST(Rollback, is_the_same_after_a_resume) {
  const CapturedLog log;
  const auto run_of = [](BadTraining& training, const TemporaryFolder& folder) {
    auto run = std::make_unique<TestRun>(RunLength{.max_epoch = 2, .steps_per_epoch = 4}, training.trainer(),
                                         folder.str());
    run->add("CheckNumerics", {{"policy", "rollback"}});
    run->add("PeriodicTrigger", parse_yaml("{callback: {ModelSaver: {keep: 9}}, every_k_steps: 1}", ""));
    return run;
  };
  const TemporaryFolder folder;
  BadTraining whole("Poisoned: {rounds: [7]}");
  run_of(whole, folder)->go();
  const TemporaryFolder other;
  BadTraining rest("Poisoned: {rounds: [7]}");
  run_of(rest, other)->go_on_from(folder / "checkpoints/model-5.h5");
  expect_bit_equal(variables_of(whole.trainer()), variables_of(rest.trainer()));
}

/// How a run with bad steps ends, and how one whose first step corrupts a weight does.
std::string end_of_bad_runs(const std::string& item) {
  const CapturedLog log;
  BadTraining training("Poisoned: {rounds: [2, 3, 6]}");
  TestRun run({.max_epoch = 2, .steps_per_epoch = 4}, training.trainer());
  run.add("probed", callback_of(item));
  std::string text = error_of_run(run);
  for (const auto& [name, value] : variables_of(training.trainer())) text += " " + shortest(value.at(0));
  FakeRun spoiled({.max_epoch = 2, .steps_per_epoch = 2});
  spoiled.trainer.on_step = [&](int64_t step) {
    if (step == 0) spoiled.trainer.weights().data<float>()[0] = INFINITY;
  };
  spoiled.add("probed", callback_of(item));
  return text + error_of_run(spoiled);
}

const live::Fields kCheckNumerics("callback", "CheckNumerics",
                                  {.base = "{policy: skip_step}",
                                   .values = {{"policy", "rollback"}, {"max_bad_steps", "1"}},
                                   .build = end_of_bad_runs});

}  // namespace
}  // namespace tpack
