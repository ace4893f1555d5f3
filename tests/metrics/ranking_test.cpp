#include "metrics/ranking.h"

#include <cmath>

#include <gmock/gmock-matchers.h>

#include "layers/metric_value.h"

namespace tpack {
namespace {

/// A metric of one score for each sample.
double of_scores(const std::string& metric, const std::vector<double>& scores,
                 const std::vector<int32_t>& labels) {
  const auto samples = static_cast<int64_t>(labels.size());
  return MetricOfSamples{metric + ": {logits: logits, labels: label}",
                         {"logits", "label"},
                         {Tensor::of({samples, 1}, scores), Tensor::of({samples}, labels)}}
      .value();
}

/// The examples in the documentation of sklearn.metrics.roc_auc_score and average_precision_score.
TEST(AUC, is_that_of_scikit_learn) {
  EXPECT_DOUBLE_EQ(of_scores("AUC", {0.1, 0.4, 0.35, 0.8}, {0, 0, 1, 1}), 0.75);
  EXPECT_DOUBLE_EQ(of_scores("AveragePrecision", {0.1, 0.4, 0.35, 0.8}, {0, 0, 1, 1}), (1 + 2 / 3.0) / 2);
}

TEST(AUC, counts_a_tie_as_half_a_pair) {
  EXPECT_EQ(of_scores("AUC", {2, 2, 2, 2, 2}, {0, 1, 0, 0, 1}), 0.5);
  EXPECT_EQ(of_scores("AveragePrecision", {2, 2, 2, 2, 2}, {0, 1, 0, 0, 1}), 0.4);
  EXPECT_EQ(of_scores("AUC", {3, 2, 2, 1}, {1, 1, 0, 0}), 3.5 / 4);
  EXPECT_EQ(of_scores("AUC", {0.0, -0.0}, {1, 0}), 0.5);
}

TEST(AUC, is_no_number_if_all_labels_are_the_same) {
  EXPECT_TRUE(std::isnan(of_scores("AUC", {1, 2}, {1, 1})));
  EXPECT_TRUE(std::isnan(of_scores("AUC", {1}, {0})));
  EXPECT_EQ(of_scores("AveragePrecision", {1, 2}, {1, 1}), 1);
  EXPECT_EQ(of_scores("AveragePrecision", {1, 2}, {0, 0}), 0);
}

TEST(AUC, shows_what_is_no_number) {
  for (const char* metric : {"AUC", "AveragePrecision"})
    EXPECT_TRUE(std::isnan(of_scores(metric, {1, NAN, 3}, {1, 0, 1}))) << metric;
  EXPECT_EQ(of_scores("AUC", {INFINITY, 1, -INFINITY}, {1, 0, 0}), 1);
}

MetricOfSamples of_class_scores(const std::string& item, const std::vector<double>& scores,
                                const std::vector<int32_t>& labels) {
  const auto samples = static_cast<int64_t>(labels.size());
  const auto classes = static_cast<int64_t>(scores.size()) / samples;
  return {item, {"logits", "label"}, {Tensor::of({samples, classes}, scores), Tensor::of({samples}, labels)}};
}

/// All probabilities of class 0 are 1 in double precision, and those of class 1 are as far apart.
TEST(AUC, tells_apart_classes_that_are_nearly_certain) {
  for (const char* item :
       {"AUC: {logits: logits, labels: label}", "AUC: {logits: logits, labels: label, class: 0}"})
    EXPECT_EQ(of_class_scores(item, {100, 0, 90, 0, 80, 0, 70, 0}, {0, 0, 1, 1}).value(), 1) << item;
}

/// Probabilities of a class do not depend on which of the other classes has which score, nor on a number that
/// is added to all scores.
TEST(AUC, finds_ties_of_probabilities) {
  const std::string item = "AUC: {logits: logits, labels: label, class: 0}";
  EXPECT_EQ(of_class_scores(item, {1, 0.25, 2, 1.5, 1, 1.5, 2, 0.25}, {0, 1}).value(), 0.5);
  EXPECT_EQ(of_class_scores(item, {1, 0.25, 2, 1.5, 2, 2.5, 1.25, 3}, {0, 1}).value(), 0.5);
  EXPECT_EQ(of_class_scores(item, {2, 2, 0, 2, 0, 2}, {0, 1}).value(), 0.5);
}

TEST(AUC, leaves_out_classes_that_no_sample_has) {
  const std::vector<double> scores = {1, 0, 0, 0, 1, 0, 0, 0.5, 0, 0.5, 0, 0};
  EXPECT_EQ(of_class_scores("AUC: {logits: logits, labels: label}", scores, {0, 1, 1, 0}).value(), 1);
}

TEST(AUC, takes_a_yes_or_no_of_each_output) {
  const std::vector<Tensor> values = {Tensor::of<double>({4, 2}, {1, 4, 2, 3, 3, 2, 4, 1}),
                                      Tensor::of<double>({4, 2}, {0, 1, 0, 1, 1, 0, 1, 1})};
  const auto value_of = [&](const std::string& more) {
    return MetricOfSamples{"AUC: {logits: x, labels: y" + more + "}", {"x", "y"}, values}.value();
  };
  EXPECT_EQ(value_of(", class: 0"), 1);
  EXPECT_EQ(value_of(", class: 1"), 2 / 3.0);
  EXPECT_EQ(value_of(""), (1 + 2 / 3.0) / 2);
  EXPECT_DOUBLE_EQ(value_of(", average: weighted"), (2 * 1 + 3 * 2 / 3.0) / 5);
}

TEST(AUC, of_one_kind_of_label_is_no_value_of_a_step) {
  const std::shared_ptr<const Metric> metric =
      Registry<Metric>::make_item(parse_yaml("AUC: {logits: x, labels: y}", "m.yaml"));
  std::shared_ptr<const Accumulation> accumulation;
  testkit::evaluate(
      [&](Builder& b, std::span<const Symbol> in) -> std::vector<Symbol> {
        const SumAndWeight figure = figure_of(*metric, b, {"x", "y"}, in);
        accumulation = figure.accumulation;
        return {figure.sum};
      },
      {Tensor::of<double>({2}, {1, 2}), Tensor::of<double>({2}, {1, 0})}, DType::kFloat64);
  EXPECT_TRUE(accumulation->has_value(std::vector<double>{1, 1, 2, 0, 2}));
  EXPECT_FALSE(accumulation->has_value(std::vector<double>{1, 1, 2, 1, 2}));
  EXPECT_FALSE(accumulation->has_value(std::vector<double>{0}));
}

TEST(AUC, says_what_is_wrong) {
  const auto complaint = [](const std::string& item) {
    return complaint_of<Metric>(item, {"logits", "label", "tags"},
                                {Tensor::of<double>({2, 3}, {1, 2, 3, 4, 5, 6}),
                                 Tensor::of<int32_t>({2}, {0, 1}), Tensor::of<double>({2}, {1, 0})});
  };
  EXPECT_THAT(complaint("AUC: {logits: logits, labels: tags}"),
              testing::HasSubstr("labels must be int32 [2], a class number for each sample"));
  EXPECT_THAT(complaint("AUC: {logits: logits, labels: label, class: 3}"),
              testing::HasSubstr("'class' is 3; 'logits' has 3 scores for each sample, numbered from 0"));
  EXPECT_THAT(complaint("AUC: {logits: logits, labels: label, class: 1, average: micro}"),
              testing::HasSubstr("remove one of them"));
}

}  // namespace
}  // namespace tpack
