#include "costs/confusion.h"

#include <cmath>

#include <gmock/gmock-matchers.h>

#include "layers/metric_value.h"

namespace tpack {
namespace {

/// Samples of three classes, which are predicted by a score of 2. Of a class -1, all scores are NaN.
MetricOfSamples of_classes(const std::string& yaml, const std::vector<int>& predicted,
                           const std::vector<int32_t>& actual) {
  std::vector<double> scores;
  for (const int chosen : predicted) {
    for (int c = 0; c < 3; ++c) scores.push_back(chosen < 0 ? NAN : c == chosen ? 2 : c / 4.0);
  }
  const auto samples = static_cast<int64_t>(actual.size());
  return {yaml, {"logits", "label"}, {Tensor::of({samples, 3}, scores), Tensor::of({samples}, actual)}};
}

double f1(const std::string& average, const std::vector<int>& predicted, const std::vector<int32_t>& actual) {
  return of_classes("F1: {logits: logits, labels: label, average: " + average + "}", predicted, actual)
      .value();
}

/// The example in the documentation of sklearn.metrics.f1_score; 0 is the only class that is ever right.
TEST(F1, is_that_of_scikit_learn_for_any_batches) {
  for (const auto& [average, value] :
       {std::pair("macro", 0.8 / 3), {"micro", 2.0 / 6}, {"weighted", 0.8 / 3}}) {
    const MetricOfSamples metric =
        of_classes(std::string("F1: {logits: logits, labels: label, average: ") + average + "}",
                   {0, 2, 1, 0, 0, 1}, {0, 1, 2, 0, 1, 2});
    for (const std::vector<int64_t>& batches : {std::vector<int64_t>{6}, {4, 2}, {1, 1, 1, 1, 1, 1}}) {
      EXPECT_DOUBLE_EQ(metric.value(batches), value);
      EXPECT_DOUBLE_EQ(metric.value(batches, 1, MetricOfSamples::On::kCpu), value);
    }
  }
}

TEST(F1, leaves_out_classes_that_no_sample_has) {
  EXPECT_DOUBLE_EQ(f1("macro", {0, 1, 1}, {0, 1, 0}), 2.0 / 3);
  EXPECT_DOUBLE_EQ(f1("macro", {0, 1, 2}, {0, 1, 0}), (2.0 / 3 + 1 + 0) / 3) << "2 is predicted";
  EXPECT_DOUBLE_EQ(f1("macro", {0, 0}, {0, 0}), 1);
}

TEST(F1, has_no_prediction_of_scores_that_are_not_finite) {
  EXPECT_DOUBLE_EQ(f1("macro", {-1, -1}, {0, 0}), 0);
  EXPECT_DOUBLE_EQ(f1("micro", {-1, 0}, {0, 0}), 2.0 / 3);
}

TEST(F1, of_a_yes_or_no_is_the_harmonic_mean_of_precision_and_recall) {
  const std::vector<Tensor> values = {Tensor::of<double>({2, 3}, {1, 2, 0.2, -1, -2, 1}),
                                      Tensor::of<int32_t>({2, 3}, {1, 0, 1, 1, 0, 1})};
  const auto value_of = [&](const std::string& metric) {
    return MetricOfSamples{metric, {"logits", "label"}, values}.value();
  };
  EXPECT_DOUBLE_EQ(value_of("F1: {logits: logits, labels: label, average: binary}"), 2 * 3 / (4.0 + 4));
  EXPECT_DOUBLE_EQ(value_of("F1: {logits: logits, labels: label, average: binary, threshold: 0.7}"),
                   2 * 2 / (3.0 + 4))
      << "sigmoid(0.2) is 0.55";
  EXPECT_DOUBLE_EQ(value_of("FBeta: {logits: logits, labels: 1, average: binary, beta: 2}"),
                   5 * 4 / (4 + 4.0 * 6));
}

TEST(ClassRatio, of_one_class_is_that_class_alone) {
  const std::vector<int> predicted = {0, 0, 1, 2, 2, 2};
  const std::vector<int32_t> actual = {0, 1, 1, 2, 2, 0};
  const auto value_of = [&](const std::string& metric, int number) {
    return of_classes(metric + ": {logits: logits, labels: label, class: " + std::to_string(number) + "}",
                      predicted, actual)
        .value();
  };
  EXPECT_DOUBLE_EQ(value_of("Precision", 0), 1 / 2.0);
  EXPECT_DOUBLE_EQ(value_of("Precision", 2), 2 / 3.0);
  EXPECT_DOUBLE_EQ(value_of("Recall", 1), 1 / 2.0);
  EXPECT_DOUBLE_EQ(value_of("Recall", 2), 1);
  EXPECT_DOUBLE_EQ(value_of("F1", 2), 4 / 5.0);
}

/// A label that no class has counts among the samples and is never right.
TEST(ClassRatio, is_never_right_of_a_label_out_of_range) {
  EXPECT_DOUBLE_EQ(f1("micro", {0, 1}, {0, 7}), 2 / 3.0);
  EXPECT_DOUBLE_EQ(f1("micro", {0, 1}, {0, -1}), 2 / 3.0);
}

std::string complaint_of_classes(const std::string& metric) {
  return complaint_of<Metric>(
      metric, {"logits", "label", "tags"},
      {Tensor::of<double>({2, 3}, {1, 2, 3, 4, 5, 6}), Tensor::of<int32_t>({2}, {0, 1}),
       Tensor::of<double>({2, 3}, {1, 0, 1, 1, 0, 1})});
}

TEST(ClassRatio, says_what_to_write) {
  EXPECT_THAT(complaint_of_classes("Precision: {logits: logits, labels: label}"),
              testing::HasSubstr("cost.yaml:1:37: metric Precision: 'label' is int32 [2], but 'logits' has 3 "
                                 "scores for each sample; for class numbers, write average: macro"));
  EXPECT_THAT(
      complaint_of_classes("Recall: {logits: logits, labels: label, class: 3}"),
      testing::HasSubstr("metric Recall: 'class' is 3; 'logits' has the scores of 3 classes, 0 to 2"));
  EXPECT_THAT(complaint_of_classes("F1: {logits: logits, labels: 1}"),
              testing::HasSubstr("metric F1: 'labels' is 1; for classes, it must be an output or input"));
  EXPECT_THAT(complaint_of_classes("Recall: {logits: logits, labels: label, class: 1, average: micro}"),
              testing::HasSubstr("remove one of them"));
  EXPECT_THAT(complaint_of_classes("F1: {logits: logits, labels: label, threshold: 0.3}"),
              testing::HasSubstr("'threshold' applies only to average: binary"));
  EXPECT_THAT(complaint_of_classes("F1: {logits: logits, labels: tags}"),
              testing::HasSubstr("labels must be int32 [2], a class number for each sample"));
  EXPECT_THAT(complaint_of_classes("FBeta: {logits: logits, labels: label}"),
              testing::HasSubstr("'beta' is missing"));
}

}  // namespace
}  // namespace tpack
