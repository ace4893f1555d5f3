
#include <gtest/gtest.h>

#include "callbacks/callback_scenes.h"
#include "support/on_ranks.h"

namespace tpack {
namespace {

using Values = std::map<std::string, std::vector<double>>;

constexpr const char* kNormalizing = R"(
inputs:
  x: {shape: [5]}
  label: {shape: [], dtype: int32}
layers:
  - FullyConnected: {name: fc0, units: 7}
  - BatchNorm: {name: bn}
  - FullyConnected: {name: fc1, units: 3}
cost:
  - SoftmaxCrossEntropy: {logits: fc1, labels: label}
metrics:
  - Accuracy: {logits: fc1, labels: label}
  - AUC: {logits: fc1, labels: label}
)";
/// With a metric of each kind of sum: counts of classes, a matrix, scores in order, bins of scores, numbers.
constexpr const char* kManyMetrics = R"(
inputs:
  x: {shape: [5]}
  label: {shape: [], dtype: int32}
layers:
  - FullyConnected: {name: fc0, units: 7}
  - FullyConnected: {name: scores, units: 3}
  - FullyConnected: {name: numbers, input: fc0, units: 5}
cost:
  - SoftmaxCrossEntropy: {logits: scores, labels: label}
  - MeanSquaredError: {predictions: numbers, targets: x}
metrics:
  - Accuracy: {logits: scores, labels: label}
  - F1: {logits: scores, labels: label}
  - BalancedAccuracy: {logits: scores, labels: label}
  - CohenKappa: {logits: scores, labels: label}
  - MatthewsCorrelation: {logits: scores, labels: label}
  - AUC: {logits: scores, labels: label}
  - AveragePrecision: {logits: scores, labels: label}
  - CalibrationError: {logits: scores, labels: label}
  - Brier: {logits: scores, labels: label}
  - R2: {predictions: numbers, targets: x}
  - MedianAbsoluteError: {predictions: numbers, targets: x}
)";
constexpr size_t kManyFigures = 14;  // and the cost with its two terms

/// The figures of three epochs, over samples in batches of 4, that a callback reports on a rank.
Values figures_of(const std::string& item, const std::string& trainer,
                  std::unique_ptr<Comm> world = make_self_comm(), int64_t samples = 11,
                  const std::string& model = kNormalizing) {
  Comm* const comm = world.get();
  SmallTraining training(small_flow(64, "- BatchData: {batch_size: 2}"), trainer,
                         "Adam: {learning_rate: 0.01}", EngineSettings::Backend::kReference, std::move(world),
                         model_of(model));
  TestRun run({.max_epoch = 3, .steps_per_epoch = 2}, training.trainer());
  run.options.world = comm;
  run.options.flows = {{"validation", small_flow(samples, "- BatchData: {batch_size: 4, remainder: true}")}};
  run.add("probed", callback_of(item)).go();
  Values values;
  for (const std::string& name : run.monitors.names()) values[name] = run.values(name);
  return values;
}

/// As above, of each of so many ranks.
std::vector<Values> figures_of_ranks(int count, const std::string& item, const std::string& trainer,
                                     const std::string& model) {
  return on_ranks(count, [&](int /*rank*/, std::unique_ptr<Comm> comm) {
    return figures_of(item, trainer, std::move(comm), 11, model);
  });
}

void expect_same(const Values& a, const Values& b, size_t count = 3) {
  ASSERT_EQ(a.size(), count);
  for (const auto& [name, values] : a) {
    ASSERT_TRUE(b.contains(name)) << name;
    for (size_t epoch = 0; epoch < 3; ++epoch) {
      EXPECT_NEAR(values[epoch], b.at(name)[epoch], 1e-12) << name;
    }
    EXPECT_TRUE(std::ranges::any_of(values, [](double value) { return value != 0; })) << name;
  }
  EXPECT_EQ(a.at("validation_accuracy"), b.at("validation_accuracy"));  // counts
}

TEST(DataParallelInferenceRunner, has_the_figures_of_inference_runner) {
  for (const std::string trainer :
       {"Simple", "SyncMultiGPU: {devices: 2}", "SyncMultiGPU: {devices: 2, mode: parameter_server}"}) {
    for (const int64_t samples : {11, 3}) {  // of 3, a tower may have no batch
      SCOPED_TRACE(trainer + ", samples: " + std::to_string(samples));
      expect_same(
          figures_of("InferenceRunner: {data: validation}", trainer, make_self_comm(), samples),
          figures_of("DataParallelInferenceRunner: {data: validation}", trainer, make_self_comm(), samples));
    }
  }
}

/// Of four ranks, one has no batch.
TEST(DataParallelInferenceRunner, has_the_same_figures_on_all_ranks) {
  for (const int ranks : {2, 4}) {
    for (const std::string trainer : {"Horovod", "Horovod: {devices: 2}"}) {
      SCOPED_TRACE(trainer + " on " + std::to_string(ranks));
      const auto alone =
          figures_of_ranks(ranks, "InferenceRunner: {data: validation}", trainer, kManyMetrics);
      const auto together =
          figures_of_ranks(ranks, "DataParallelInferenceRunner: {data: validation}", trainer, kManyMetrics);
      expect_same(alone[0], together[0], kManyFigures);
      for (size_t rank = 1; rank < together.size(); ++rank) {
        EXPECT_TRUE(alone[rank].empty());
        EXPECT_EQ(together[0], together[rank]);
      }
    }
  }
}

TEST(DataParallelInferenceRunner, works_with_asynchronous_towers) {
  const Values values =
      figures_of("DataParallelInferenceRunner: {data: validation}", "AsyncMultiGPU: {devices: 2}");
  EXPECT_EQ(values.at("validation_accuracy").size(), 3U);
}

TEST(DataParallelInferenceRunner, changes_nothing_that_is_saved) {
  const auto variables = [](bool infers) {
    SmallTraining training(small_flow(64, "- BatchData: {batch_size: 2}"), "SyncMultiGPU: {devices: 2}",
                           "Adam", EngineSettings::Backend::kReference, make_self_comm(),
                           model_of(kNormalizing));
    TestRun run({.max_epoch = 2, .steps_per_epoch = 3}, training.trainer());
    run.options.flows = {{"validation", small_flow(12, "- BatchData: {batch_size: 4}")}};
    if (infers) run.add("probed", callback_of("DataParallelInferenceRunner: {data: validation}"));
    run.go();
    return variables_of(training.trainer());
  };
  expect_bit_equal(variables(true), variables(false));
}

TEST(DataParallelInferenceRunner, cannot_be_a_callback_of_swa) {
  const std::string item = "SWA: {callbacks: [DataParallelInferenceRunner: {data: validation}]}";
  EXPECT_TRUE(says(error_from([&] { Registry<Callback>::make_item(parse_yaml(item, "s.yaml")); }),
                   {"s.yaml:1:19:", "callback SWA: its callbacks run"}));
}

}  // namespace
}  // namespace tpack
