#include "model/cost.h"

#include <cmath>

#include <gtest/gtest.h>

#include "graph/passes/gradient.h"
#include "layers/cost_function.h"
#include "layers/layer_cases.h"
#include "layers/metric_value.h"
#include "model/cost_statistic.h"
#include "support/errors.h"
#include "support/graph_text.h"
#include "testkit/backend_check.h"

namespace tpack {
namespace {

/// A formula is a cost and a metric, of any direction.
bool is_loss(const std::string& metric) {
  return metric != "Expression" && Registry<Cost>::table().find(metric) != nullptr;
}

/// Metrics say which values are better, but for one whose values may mean anything; of a loss, small ones
/// are. The list of the others is by what the words mean: a new metric must be added on purpose.
TEST(Metrics, know_which_values_are_better) {
  std::map<std::string, std::optional<Goal>> meaning;
  for (const char* name : {"AUC",
                           "Accuracy",
                           "AveragePrecision",
                           "BalancedAccuracy",
                           "BoundaryF1",
                           "CohenKappa",
                           "ExactMatch",
                           "ExplainedVariance",
                           "F1",
                           "FBeta",
                           "InTopK",
                           "IoU",
                           "MatthewsCorrelation",
                           "MultiLabelAccuracy",
                           "PSNR",
                           "Precision",
                           "R2",
                           "Recall",
                           "RecallAtK",
                           "SSIM"})
    meaning[name] = Goal::kMax;
  for (const char* name :
       {"Brier", "CalibrationError", "ClassificationError", "MedianAbsoluteError", "RootMeanSquaredError"})
    meaning[name] = Goal::kMin;
  for (const char* name : {"Expression", "Mean"}) meaning[name] = std::nullopt;
  for (const ComponentInfo* info : Registry<Metric>::table().list()) {
    const auto made = Registry<Metric>::make_item(parse_yaml(info->example(), "example.yaml"));
    ASSERT_TRUE(is_loss(info->name) || meaning.contains(info->name)) << info->name;
    EXPECT_EQ(made->goal(), is_loss(info->name) ? Goal::kMin : meaning.at(info->name)) << info->name;
  }
}

const Tensor kLogits = Tensor::of<double>({3, 4}, {0.1, 0.9, 0.3, 0.2,  //
                                                   2.0, 1.0, 0.0, 1.5,  //
                                                   0.0, 0.0, 0.0, 5.0});
const Tensor kLabels = Tensor::of<int32_t>({3}, {2, 3, 3});

/// A cost or metric of the logits and labels.
template <class Kind>
testkit::Function function_of_kind(const std::string& yaml) {
  return function_of_outputs<Kind>(yaml, {"logits", "label"});
}

/// The sums of a metric of these logits and labels: what counts, and of how many.
std::pair<double, double> sums_of(const std::string& metric, const Tensor& logits, const Tensor& labels) {
  const auto sums = testkit::evaluate(function_of_kind<Metric>(metric), {logits, labels}, DType::kFloat64);
  return {sums[0].at(0), sums[1].at(0)};
}

/// Predictions and targets that a loss takes: classes, or a number for each prediction.
std::vector<Tensor> values_for(const testkit::Function& loss) {
  try {
    testkit::evaluate(loss, {kLogits, kLabels}, DType::kFloat64);
    return {kLogits, kLabels};
  } catch (const Error&) {
    return {kLogits, Tensor::of<double>({3, 4}, {0.3, 0.9, 0.1, 0, 1, 0.6, 0.2, 0.8, 0, 0.5, 1, 1})};
  }
}

TEST(Losses, give_a_metric_with_the_value_of_the_cost) {
  int losses = 0;
  for (const ComponentInfo* info : Registry<Metric>::table().list()) {
    if (!is_loss(info->name)) continue;
    SCOPED_TRACE(info->name);
    const std::string example = info->example();
    std::vector<std::string> names = {"logits", "label"};
    for (const auto& [prediction, target] :
         {std::pair("price", "true_price"), std::pair("log_count", "count"), std::pair("logits", "teacher"),
          std::pair("embedding", "true_embedding"), std::pair("borders", "grade"),
          std::pair("face", "person")}) {
      if (example.find(std::string(": ") + target) != std::string::npos) names = {prediction, target};
    }
    if (std::string(info->name) == "ContrastiveLoss") continue;  // of three outputs: its own test
    const testkit::Function cost_function = function_of_outputs<Cost>(example, names);
    const std::vector<Tensor> values = values_for(cost_function);
    const double cost = testkit::evaluate(cost_function, values, DType::kFloat64)[0].at(0);
    const std::vector<Tensor> metric =
        testkit::evaluate(function_of_outputs<Metric>(example, names), values, DType::kFloat64);
    EXPECT_NE(cost, 0);
    EXPECT_NEAR(metric[0].at(0) / metric[1].at(0), cost, 1e-12 * std::abs(cost));
    ++losses;
  }
  EXPECT_GE(losses, 6);
}

TEST(SigmoidCrossEntropy, is_nan_for_labels_that_are_no_probabilities) {
  const auto function = function_of_kind<Cost>("SigmoidCrossEntropy: {logits: logits, labels: label}");
  const Tensor logits = Tensor::of<double>({2}, {0.5, -0.5});
  for (const double label : {0.0, 0.3, 1.0, -0.001, 1.001, 1.5, 2.0}) {
    const Tensor labels = Tensor::of<double>({2}, {0.5, label});
    const double cost = testkit::evaluate(function, {logits, labels}, DType::kFloat64)[0].at(0);
    EXPECT_EQ(std::isnan(cost), label < 0 || label > 1) << label;
  }
}

TEST(SoftmaxCrossEntropy, is_the_mean_over_the_batch) {
  const auto function = function_of_kind<Cost>("SoftmaxCrossEntropy: {logits: logits, labels: label}");
  double expected = 0;
  for (int64_t n = 0; n < 3; ++n) {
    double total = 0;
    for (int64_t k = 0; k < 4; ++k) total += std::exp(kLogits.at(4 * n + k));
    expected += std::log(total) - kLogits.at(4 * n + static_cast<int64_t>(kLabels.at(n)));
  }
  const Tensor value = testkit::evaluate(function, {kLogits, kLabels}, DType::kFloat64)[0];
  EXPECT_EQ(value.shape().rank(), 0U);
  EXPECT_NEAR(value.at(0), expected / 3, 1e-14);
  EXPECT_TRUE(testkit::check_gradients(function, {kLogits, kLabels}).ok);
  EXPECT_TRUE(testkit::check_second_gradients(function, {kLogits, kLabels}, {.tolerance = 1e-5}).ok);
}

/// The loss of one sample whose label has this score and another class 0, and the gradient of the score.
std::pair<double, double> focal_loss(double score, const std::string& gamma) {
  const auto function =
      function_of_kind<Cost>("FocalLoss: {logits: logits, labels: label, gamma: " + gamma + "}");
  const testkit::Function with_gradient = [&](Builder& b, std::span<const Symbol> in) {
    const Symbol y = function(b, in)[0];
    return std::vector{y, gradients(b, y, in.first(1))[0]};
  };
  const auto found = testkit::evaluate_on_cpu(
      with_gradient,
      {Tensor::of<float>({1, 2}, {static_cast<float>(score), 0}), Tensor::of<int32_t>({1}, {0})}, {});
  return {found[0].at(0), found[1].at(0)};
}

/// 1 - p is the probability of the other class: of a large score s, exp(-s), as is -log p.
TEST(FocalLoss, keeps_its_digits_if_the_label_is_certain) {
  EXPECT_NEAR(focal_loss(20, "2").first / std::exp(-60), 1, 1e-5);
  EXPECT_NEAR(focal_loss(20, "2").second / (-3 * std::exp(-60)), 1, 1e-5);
  EXPECT_NEAR(focal_loss(-50, "2").first, 50, 1e-5);
  EXPECT_NEAR(focal_loss(-50, "2").second, -1, 1e-6);
}

TEST(FocalLoss, has_a_gradient_where_the_probability_is_1) {
  for (const char* gamma : {"0", "0.01", "0.5", "1", "2"}) {
    EXPECT_EQ(focal_loss(1e4, gamma).first, 0) << gamma;
    EXPECT_EQ(focal_loss(1e4, gamma).second, 0) << gamma;
  }
}

TEST(FocalLoss, is_the_cross_entropy_if_gamma_is_0) {
  for (const double score : {-3.0, 0.0, 0.5, 4.0})
    EXPECT_NEAR(focal_loss(score, "0").first, std::log1p(std::exp(-score)), 1e-6) << score;
}

double sigmoid_cross_entropy(double logit, const std::string& label) {
  const auto function =
      function_of_kind<Cost>("SigmoidCrossEntropy: {logits: logits, labels: " + label + "}");
  return testkit::evaluate(function, {Tensor::of<double>({1, 1}, {logit})}, DType::kFloat64)[0].at(0);
}

TEST(SigmoidCrossEntropy, is_exact_if_the_sigmoid_is_0_or_1) {
  EXPECT_DOUBLE_EQ(sigmoid_cross_entropy(0, "1"), std::log(2));
  EXPECT_DOUBLE_EQ(sigmoid_cross_entropy(1000, "0"), 1000);
  EXPECT_DOUBLE_EQ(sigmoid_cross_entropy(-1000, "1"), 1000);
  EXPECT_NEAR(sigmoid_cross_entropy(1000, "1"), 0, 1e-12);
  EXPECT_NEAR(sigmoid_cross_entropy(-1000, "0"), 0, 1e-12);
}

TEST(SigmoidCrossEntropy, has_the_gradient_of_a_number_and_of_labels) {
  const Tensor logits = Tensor::of<double>({2, 3}, {0, 0.7, -2, 35, -35, 40});
  const Tensor labels = Tensor::of<double>({2, 3}, {0, 1, 0.25, 1, 0.5, 0});
  for (const char* label : {"label", "0", "0.3"}) {
    const auto function =
        function_of_kind<Cost>(std::string("SigmoidCrossEntropy: {logits: logits, labels: ") + label + "}");
    EXPECT_TRUE(testkit::check_gradients(function, {logits, labels}).ok) << label;
    EXPECT_TRUE(testkit::check_second_gradients(function, {logits, labels}, {.tolerance = 1e-5}).ok) << label;
  }
}

TEST(SigmoidCrossEntropy, takes_labels_of_the_logits_size_alone) {
  const auto function = function_of_kind<Cost>("SigmoidCrossEntropy: {logits: logits, labels: label}");
  const Tensor logits = Tensor::of<double>({2, 1}, {1, -1});
  EXPECT_NO_THROW(testkit::evaluate(function, {logits, Tensor::of<double>({2}, {1, 0})}, DType::kFloat64));
  EXPECT_THROW(testkit::evaluate(function, {logits, Tensor::of<double>({3}, {1, 0, 1})}, DType::kFloat64),
               ShapeError);
}

/// The best of one score says nothing.
TEST(ScoresOfClasses, are_at_least_two) {
  const Tensor logits = Tensor::of<double>({2, 1}, {1, -1});
  const Tensor labels = Tensor::of<int32_t>({2}, {1, 0});
  for (const char* const metric : {"Accuracy", "ClassificationError", "InTopK"}) {
    const auto function = function_of_kind<Metric>(std::string(metric) + ": {logits: logits, labels: label}");
    EXPECT_THROW(testkit::evaluate(function, {logits, labels}, DType::kFloat64), ShapeError) << metric;
  }
}

const Tensor kTwoScores = Tensor::of<double>({2, 3}, {1, 2, 0, 4, 5, 6});

TEST(ClassNumbers, may_be_of_any_integer_type) {
  const auto cost = function_of_kind<Cost>("SoftmaxCrossEntropy: {logits: logits, labels: label}");
  const double expected =
      testkit::evaluate(cost, {kTwoScores, Tensor::of<int32_t>({2}, {2, 0})}, DType::kFloat64)[0].at(0);
  const std::vector<Tensor> labels = {Tensor::of<uint8_t>({2}, {2, 0}), Tensor::of<int64_t>({2}, {2, 0})};
  for (const Tensor& label : labels)
    EXPECT_EQ(testkit::evaluate(cost, {kTwoScores, label}, DType::kFloat64)[0].at(0), expected)
        << label.spec().str();
}

TEST(ClassNumbers, are_made_of_other_labels_by_a_layer) {
  const auto complaint = [](const Tensor& labels) {
    return complaint_of<Metric>("Accuracy: {logits: logits, labels: y}", {"logits", "y"},
                                {kTwoScores, labels});
  };
  EXPECT_TRUE(says(complaint(Tensor::of<int32_t>({2, 1}, {2, 0})),
                   {"labels must be int32 [2], a class", "append Reshape: {name:"}));
  EXPECT_TRUE(says(complaint(Tensor::of<int32_t>({2, 3}, {0, 0, 1, 1, 0, 0})),
                   {"for one-hot labels, append ArgMax:"}));
  EXPECT_TRUE(says(complaint(Tensor::of<double>({2}, {2, 0})), {"change the flow with MapData:"}));
}

TEST(Accuracy, counts_hits_and_samples) {
  EXPECT_EQ(sums_of("Accuracy: {logits: logits, labels: label}", kLogits, kLabels), std::pair(1.0, 3.0));
  for (const auto& [k, hits] : {std::pair("1", 1.0), {"2", 3.0}, {"4", 3.0}})
    EXPECT_EQ(sums_of("InTopK: {logits: logits, labels: label, k: " + std::string(k) + "}", kLogits, kLabels),
              std::pair(hits, 3.0))
        << k;
}

/// The scores of a dead network, and of a network that cannot decide between two classes.
TEST(Accuracy, counts_no_label_that_only_ties_for_the_best_score) {
  const Tensor scores = Tensor::of<double>({3, 4}, {0, 0, 0, 0, 1, 2, 2, 0, 1, 3, 2, 0});
  const Tensor labels = Tensor::of<int32_t>({3}, {2, 1, 1});
  EXPECT_EQ(sums_of("Accuracy: {logits: logits, labels: label}", scores, labels).first, 1);
  // Two share the first two places, and four the first three.
  for (const auto& [k, hits] : {std::pair("1", 1), {"2", 2}, {"3", 2}, {"4", 3}})
    EXPECT_EQ(
        sums_of("InTopK: {logits: logits, labels: label, k: " + std::string(k) + "}", scores, labels).first,
        hits)
        << k;
}

TEST(InTopK, has_no_more_than_all_scores) {
  const auto metric = function_of_kind<Metric>("InTopK: {logits: logits, labels: label, k: 5}");
  EXPECT_TRUE(says(error_from<ShapeError>([&] {
                     testkit::evaluate(metric, {kLogits, kLabels}, DType::kFloat64);
                   }),
                   {"k is 5, but there are 4 classes"}));
}

/// A cost over the variables "a/W" = [3, 4] and "b/W" = [1], and "a/b" = [7].
Tensor regularized(const std::string& yaml) {
  const std::shared_ptr<const Cost> cost = Registry<Cost>::make_item(parse_yaml(yaml, "cost.yaml"));
  const testkit::Function function = [cost](Builder& b, std::span<const Symbol> /*in*/) {
    const auto filled = [](std::vector<double> values) {
      return [values](const Tensor& value, Rng& /*rng*/) {
        std::copy(values.begin(), values.end(), value.data<double>());
      };
    };
    b.variable({"a/W", {DType::kFloat64, {2}}, VariableScope::kModel, true, filled({3, 4})});
    b.variable({"a/b", {DType::kFloat64, {1}}, VariableScope::kModel, true, filled({7})});
    b.variable({"b/W", {DType::kFloat64, {1}}, VariableScope::kModel, true, filled({1})});
    const NetworkBuilder network(b);
    return std::vector{cost->build(ModelView(b, network)).value};
  };
  return testkit::evaluate(function, {}, DType::kFloat64)[0];
}

TEST(Regularize, takes_half_of_squares_and_absolute_values_of_whole_names) {
  EXPECT_DOUBLE_EQ(regularized("Regularize: {variables: \"a/W\", l2: 0.5}").at(0), 0.5 * 25 / 2);
  EXPECT_DOUBLE_EQ(regularized("Regularize: {variables: \".*/W\", l1: 0.5}").at(0), 0.5 * 8);
  EXPECT_DOUBLE_EQ(regularized("Regularize: {variables: \"a/.*\", l1: 1, l2: 2}").at(0), 14 + 25 + 49);
}

TEST(Regularize, rejects_patterns_that_match_nothing) {
  EXPECT_THROW(regularized("Regularize: {variables: \"W\", l2: 1}"), ConfigError);
  EXPECT_THROW(regularized("Regularize: {variables: \"(\", l2: 1}"), ConfigError);
  EXPECT_THROW(regularized("Regularize: {variables: \".*\"}"), ConfigError);
}

TEST(MultiLabelAccuracy, counts_right_answers_of_all_labels) {
  const Tensor logits = Tensor::of<double>({2, 3}, {1, -1, 0, 0.2, 3, -2});
  const Tensor labels = Tensor::of<double>({2, 3}, {1, 0, 0, 0, 0.9, 0.5});
  const auto right = [&](const std::string& more) {
    const auto sums = sums_of("MultiLabelAccuracy: {logits: logits, " + more + "}", logits, labels);
    EXPECT_EQ(sums.second, 6);
    return sums.first;
  };
  EXPECT_EQ(right("labels: label"), 5) << "a logit of 0 is a no";
  EXPECT_EQ(right("labels: label, threshold: 0.6"), 6) << "sigmoid(0.2) is 0.55";
  EXPECT_EQ(right("labels: label, threshold: 0.1"), 2) << "sigmoid(-2) is 0.12";
  for (const char* all : {"labels: 1", "labels: 0"}) EXPECT_EQ(right(all), 3) << all;
  for (const char* wrong : {"labels: 2", "labels: label, threshold: 0", "labels: label, threshold: 1"})
    EXPECT_THROW(right(wrong), ConfigError) << wrong;
}

/// As scikit-learn's accuracy_score of multi-label targets; a sample without a label that counts does not.
TEST(ExactMatch, counts_samples_whose_labels_are_all_right) {
  const Tensor logits = Tensor::of<double>({4, 2}, {1, -1, 1, 1, -1, 2, 3, 3});
  const Tensor labels = Tensor::of<double>({4, 2}, {1, 0, 1, 0, 7, 1, 7, 7});
  const std::string metric = "ExactMatch: {logits: logits, labels: label";
  EXPECT_EQ(sums_of(metric + "}", logits.rows(0, 2), labels.rows(0, 2)), std::pair(1.0, 2.0));
  EXPECT_EQ(sums_of(metric + ", ignore_label: 7}", logits, labels), std::pair(2.0, 3.0));
}

TEST(Precision, and_recall_share_the_right_yes) {
  const Tensor logits = Tensor::of<double>({5}, {1, 2, 0.2, -1, -2});
  const Tensor labels = Tensor::of<int32_t>({5}, {1, 0, 1, 1, 0});
  const auto parts_of = [&](const std::string& metric, const std::string& more) {
    return sums_of(metric + ": {logits: logits, " + more + "}", logits, labels);
  };
  EXPECT_EQ(parts_of("Precision", "labels: label"), std::pair(2.0, 3.0));
  EXPECT_EQ(parts_of("Recall", "labels: label"), std::pair(2.0, 3.0));
  EXPECT_EQ(parts_of("Precision", "labels: label, threshold: 0.8"), std::pair(0.0, 1.0)) << "sigmoid(2) only";
  EXPECT_EQ(parts_of("Recall", "labels: label, threshold: 0.2"), std::pair(3.0, 3.0));
  EXPECT_EQ(parts_of("Recall", "labels: 1"), std::pair(3.0, 5.0));
  EXPECT_EQ(parts_of("Recall", "labels: 0"), std::pair(0.0, 0.0));
}

TEST(Share, of_nothing_is_0) {
  EXPECT_EQ(share()->value(std::vector<double>{0, 0}), 0);
  EXPECT_EQ(share()->value(std::vector<double>{1, 4}), 0.25);
  EXPECT_TRUE(std::isnan(ratio()->value(std::vector<double>{0, 0})));
}

TEST(ClassificationError, counts_what_in_top_k_does_not) {
  const Tensor scores = Tensor::of<double>({3, 3}, {1, 2, 3, 1, 2, 3, 3, 2, 1});
  const Tensor labels = Tensor::of<int32_t>({3}, {2, 1, 2});
  const std::string metric = "ClassificationError: {logits: logits, labels: label";
  EXPECT_EQ(sums_of(metric + "}", scores, labels), std::pair(2.0, 3.0));
  EXPECT_EQ(sums_of(metric + ", k: 2}", scores, labels).first, 1);
}

TEST(Mean, takes_all_elements_or_one_number) {
  const auto mean = function_of_outputs<Metric>("Mean: {output: x}", {"x"});
  for (const auto& [x, sum, count] :
       {std::tuple(Tensor::of<double>({2, 2}, {1, 2, 3, 5}), 11, 4), {Tensor::of<int32_t>({}, {7}), 7, 1}}) {
    const auto parts = testkit::evaluate(mean, {x}, DType::kFloat64);
    EXPECT_EQ(parts[0].at(0), sum);
    EXPECT_EQ(parts[1].at(0), count);
  }
}

/// 2 * (1 * 0 + 2 * 9) / 3, whatever shape the weights have, and whatever the loss of weight 0 is.
TEST(Cost, averages_weighted_losses_over_the_number_of_samples) {
  const Tensor predictions = Tensor::of<double>({3, 1}, {1, 4, NAN});
  const auto function = function_of_outputs<Cost>(
      "MeanSquaredError: {predictions: p, targets: 1, weight: 2, sample_weights: w}", {"p", "w"});
  for (const Shape& shape : {Shape{3}, Shape{3, 1}}) {
    const Tensor weights = Tensor::of<double>(shape, {1, 2, 0});
    EXPECT_DOUBLE_EQ(testkit::evaluate(function, {predictions, weights}, DType::kFloat64)[0].at(0), 12);
  }
}

TEST(Cost, gives_every_element_the_weight_of_its_sample) {
  const Tensor predictions = Tensor::of<double>({2, 1, 1, 2}, {1, 2, 3, 4});
  const auto function = function_of_outputs<Cost>(
      "MeanAbsoluteError: {predictions: p, targets: 0, sample_weights: w}", {"p", "w"});
  const Tensor weights = Tensor::of<int32_t>({2}, {10, 1});
  EXPECT_DOUBLE_EQ(testkit::evaluate(function, {predictions, weights}, DType::kFloat64)[0].at(0), 37 / 4.0);
}

/// 4 of the 6 losses of one term, all of the other one.
TEST(Cost, of_several_terms_counts_as_much_as_the_mean_of_them) {
  const testkit::Function share = [](Builder& b, std::span<const Symbol> in) -> std::vector<Symbol> {
    const std::vector<CostTerm> terms = {{in[0], in[0], 6}, {in[0], {}, 2}};
    return {counted_share(b, terms), counted_share(b, std::span(terms).first(1))};
  };
  const auto shares = testkit::evaluate(share, {Tensor::of<double>({}, {4})}, DType::kFloat64);
  EXPECT_DOUBLE_EQ(shares[0].at(0), 5 / 6.0);
  EXPECT_DOUBLE_EQ(shares[1].at(0), 4 / 6.0);
}

/// Of p * p with weights p, the gradient is 2 * p * p and not 3 * p * p.
TEST(Cost, gives_weights_no_gradient) {
  const auto function =
      function_of_outputs<Cost>("MeanSquaredError: {predictions: p, targets: 0, sample_weights: p}", {"p"});
  const testkit::Function gradient = [&](Builder& b, std::span<const Symbol> in) {
    return gradients(b, function(b, in)[0], in);
  };
  EXPECT_DOUBLE_EQ(testkit::evaluate(gradient, {Tensor::of<double>({1}, {3})}, DType::kFloat64)[0].at(0),
                   2 * 9);
}

TEST(Cost, needs_one_weight_for_each_sample) {
  EXPECT_TRUE(says(
      complaint_of<Cost>("MeanSquaredError: {predictions: p, targets: 1, sample_weights: w}", {"p", "w"},
                         {Tensor::of<double>({2, 2}, {1, 2, 3, 4}), Tensor::of<double>({4}, {1, 2, 3, 4})}),
      {"cost.yaml:1:64:", "output w has shape [4]", "the 2 samples"}));
}

TEST(Cost, with_a_weight_of_1_emits_no_factor) {
  const auto text = [](const std::string& item) {
    return graph_text([&](Builder& b) {
      b.fetch("cost",
              function_of_outputs<Cost>(item, {"p"})(b, std::vector{b.input("p", {b.float_type(), {2}})})[0]);
    });
  };
  EXPECT_EQ(text("Huber: {predictions: p, targets: 1, weight: 1}"),
            text("Huber: {predictions: p, targets: 1}"));
}

}  // namespace
}  // namespace tpack
