#include "predict/evaluator.h"

#include <cmath>
#include <filesystem>

#include <gmock/gmock-matchers.h>

#include "backend/inference_tower.h"
#include "core/stop.h"
#include "dataflow/data_flow.h"
#include "support/paths.h"
#include "support/small_model.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::ElementsAre;

class EvaluatorTest : public testing::Test {
 protected:
  static std::unique_ptr<Device> reference() {
    return make_reference_device("cpu:0", {.float_type = DType::kFloat64});
  }
  /// Statistics over a flow of 11 samples in batches of `batch`.
  Evaluator::Result figures(int64_t batch) {
    const DataFlow flow = flow_of(batch);
    return Evaluator("validation", tower_.handle(), flow, 1).run();
  }
  static DataFlow flow_of(int64_t batch) {
    return small_flow(11, "- BatchData: {batch_size: " + std::to_string(batch) + ", remainder: true}");
  }

  std::unique_ptr<TowerFunction> model_ = model_of(kSmallModel);
  InferenceTower tower_{*model_, reference()};
};

TEST_F(EvaluatorTest, runs_on_batches_in_memory_as_on_those_of_the_flow) {
  const DataFlow flow = flow_of(4);
  Evaluator evaluator("validation", tower_.handle(), flow, 1);
  const Evaluator::Result expected = evaluator.run();
  std::vector<std::vector<Tensor>> batches = evaluator.read_batches();
  ASSERT_EQ(batches.size(), 3U);
  EXPECT_EQ(evaluator.run_on(batches), expected);
  batches.pop_back();
  EXPECT_NE(evaluator.run_on(batches), expected);
  EXPECT_THAT(evaluator.predicting_inputs(), ElementsAre("x")) << "not the label";
}

/// Cost and hit of one sample, computed by hand for the small network.
struct SampleFigures {
  double cost;
  bool hit;
};

SampleFigures by_hand(const VariableStore& store, const Tensor& x, int64_t label) {
  const auto variable = [&](const char* name) { return store.tensor(name); };
  std::vector<double> hidden;
  for (int64_t j = 0; j < 7; ++j) {
    double sum = variable("fc0/b").at(j);
    for (int64_t i = 0; i < 5; ++i) sum += x.at(i) * variable("fc0/W").at(i * 7 + j);
    hidden.push_back(std::tanh(sum));
  }
  std::vector<double> scores;
  for (int64_t k = 0; k < 3; ++k) {
    double sum = variable("fc1/b").at(k);
    for (int64_t j = 0; j < 7; ++j) sum += hidden[static_cast<size_t>(j)] * variable("fc1/W").at(j * 3 + k);
    scores.push_back(sum);
  }
  double total = 0;
  for (const double score : scores) total += std::exp(score);
  const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
  return {std::log(total) - scores[static_cast<size_t>(label)], best == label};
}

TEST_F(EvaluatorTest, equals_a_computation_sample_by_sample_with_a_remainder_batch) {
  const DataFlow singles = flow_of(1);
  auto stream = singles.stream({.seed = 1, .passes = 1});
  double cost = 0;
  int hits = 0;
  int samples = 0;
  while (auto batch = stream->next()) {
    const auto label = static_cast<int64_t>(batch->tensor(1).at(0));
    const SampleFigures one = by_hand(tower_.variables(), batch->tensor(0).row(0), label);
    cost += one.cost;
    hits += one.hit ? 1 : 0;
    ++samples;
  }
  ASSERT_EQ(samples, 11);
  for (const int64_t batch : {1, 4, 11, 20}) {  // remainders of 0, 3, 0 and 11 samples
    const Evaluator::Result result = figures(batch);
    ASSERT_EQ(result.size(), 3U);
    EXPECT_EQ(result[0].first, "cost");
    EXPECT_NEAR(result[0].second, cost / 11, 1e-12) << batch;
    EXPECT_EQ(result[2].first, "accuracy");
    EXPECT_DOUBLE_EQ(result[2].second, hits / 11.0) << batch;
  }
}

/// A mean of ratios, or of coefficients, over the batches would differ.
TEST_F(EvaluatorTest, gives_the_same_figures_for_batches_of_any_size) {
  const auto model = model_of(
      "inputs: {x: {shape: [5]}, label: {shape: [], dtype: int32}}\n"
      "layers: [{FullyConnected: {name: fc, units: 1}}]\n"
      "cost: [{MeanSquaredError: {predictions: fc, targets: label, sample_weights: label, weight: 0.5}}]\n"
      "metrics: [{R2: {predictions: fc, targets: label}}, {MeanAbsoluteError: {predictions: fc, targets: "
      "label}}]");
  InferenceTower tower(*model, reference());
  const auto figures_of = [&](int64_t batch) {
    const DataFlow flow = flow_of(batch);
    return Evaluator("validation", tower.handle(), flow, 1).run();
  };
  const Evaluator::Result whole = figures_of(11);
  ASSERT_EQ(whole.size(), 3U);
  EXPECT_LT(whole[1].second, 1);
  for (const int64_t batch : {1, 3, 4}) {
    const Evaluator::Result parts = figures_of(batch);
    for (size_t i = 0; i < whole.size(); ++i)
      EXPECT_NEAR(parts[i].second, whole[i].second, 1e-12 * std::abs(whole[i].second))
          << whole[i].first << batch;
  }
}

/// Each term is the mean over the labels of the flow that count for it, as the metric of the same name is.
TEST_F(EvaluatorTest, averages_costs_over_the_labels_that_count) {
  const std::string one = "SoftmaxCrossEntropy: {logits: fc, labels: label, ignore_label: ";
  const auto model = model_of(
      "inputs: {x: {shape: [5]}, label: {shape: [], dtype: int32}}\n"
      "layers: [{FullyConnected: {name: fc, units: 3}}]\n"
      "cost: [{" +
      one + "0}}, {" + one + "1, weight: 0.5}}]\nmetrics: [{" + one + "0, name: a}}, {" + one +
      "1, name: b}}]");
  InferenceTower tower(*model, reference());
  for (const int64_t batch : {11, 1, 3, 4}) {
    const DataFlow flow = flow_of(batch);
    const auto result = Evaluator("validation", tower.handle(), flow, 1).run();
    ASSERT_EQ(result.size(), 5U);  // the cost, its terms, the metrics
    EXPECT_NEAR(result[1].second, result[3].second, 1e-12) << batch;
    EXPECT_NEAR(result[2].second, 0.5 * result[4].second, 1e-12) << batch;
    EXPECT_NEAR(result[0].second, result[1].second + result[2].second, 1e-12) << batch;
  }
}

TEST_F(EvaluatorTest, leaves_out_terms_that_exist_in_training_only) {
  const DataFlow flow = flow_of(4);
  const Evaluator evaluator("validation", tower_.handle(), flow, 1);
  EXPECT_THAT(evaluator.statistics(), ElementsAre("cost", "softmax_cross_entropy", "accuracy"));
}

TEST_F(EvaluatorTest, gives_the_same_bits_each_time) {
  const DataFlow flow = flow_of(4);
  Evaluator evaluator("validation", tower_.handle(), flow, 1);
  evaluator.compile();
  const Evaluator::Result first = evaluator.run();
  EXPECT_EQ(evaluator.run(), first);
}

TEST_F(EvaluatorTest, sees_variables_as_they_are_now) {
  const DataFlow flow = flow_of(4);
  Evaluator evaluator("validation", tower_.handle(), flow, 1);
  evaluator.run();
  for (double& value : tower_.variables().tensor("fc1/W").span<double>()) value = 0;
  for (double& value : tower_.variables().tensor("fc1/b").span<double>()) value = 0;
  EXPECT_NEAR(evaluator.run()[0].second, std::log(3.0), 1e-12);
}

TEST_F(EvaluatorTest, rejects_a_flow_without_the_inputs_of_the_model) {
  const DataFlow flow = make_flow(parse_yaml(
      "- FakeData: {shapes: [[5]], names: [x], size: 4}\n- BatchData: {batch_size: 2}", "test.yaml"));
  EXPECT_THROW(Evaluator("validation", tower_.handle(), flow, 1), ConfigError);
}

TEST_F(EvaluatorTest, rejects_a_flow_with_more_classes_than_scores) {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b", "c", "d"}) {
    std::filesystem::create_directories(folder / name);
    std::filesystem::copy_file(source_folder() + "/docs/images/rendered-digits.png",
                               folder / (std::string(name) + "/1.png"));
  }
  const auto model = model_of(R"(
inputs: {image: {shape: [2, 2, 3], dtype: uint8, layout: HWC}, label: {shape: [], dtype: int32}}
layers: [FullyConnected: {name: fc, units: 3}]
cost: [SoftmaxCrossEntropy: {logits: fc, labels: label}]
)");
  InferenceTower tower(*model, reference());
  const DataFlow flow = make_flow(
      parse_yaml("[ImageFolder: " + folder.str() +
                     ", AugmentImageComponent: [Resize: 2], BatchData: {batch_size: 2, remainder: true}]",
                 "test.yaml"));
  try {
    Evaluator("validation", tower.handle(), flow, 1);
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "cost/SoftmaxCrossEntropy: flow 'validation' has 4 classes (a, b, c, d), but there are 3 "
                 "scores; remove the classes that data.train does not have");
  }
}

TEST_F(EvaluatorTest, ends_when_it_is_asked_to) {
  const DataFlow flow = flow_of(4);
  Evaluator evaluator("validation", tower_.handle(), flow, 1);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(evaluator.run(stop.get_token()), Stopped);
  EXPECT_EQ(evaluator.batches(), 0);
  EXPECT_EQ(evaluator.run(), figures(4));
}

TEST_F(EvaluatorTest, rejects_a_flow_that_drops_samples) {
  const DataFlow flow = small_flow(11, "- BatchData: {batch_size: 4}");
  EXPECT_THROW(Evaluator("validation", tower_.handle(), flow, 1), ConfigError);
}

}  // namespace
}  // namespace tpack
