#include <cmath>

#include <gtest/gtest.h>

#include "layers/metric_value.h"

namespace tpack {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Three predictions, of which one is NaN, and their targets, in batches of one and of all.
TEST(MetricsOfRegression, are_nan_if_a_prediction_is) {
  for (const std::string metric :
       {"MeanSquaredError", "MeanAbsoluteError", "RootMeanSquaredError", "MeanAbsolutePercentageError",
        "MedianAbsoluteError", "R2", "ExplainedVariance"}) {
    for (const bool are_targets_equal : {false, true}) {
      const MetricOfSamples samples{metric + ": {predictions: p, targets: t}",
                                    {"p", "t"},
                                    {Tensor::of<double>({3}, {1, kNan, 3}),
                                     Tensor::of<double>({3}, {2, are_targets_equal ? 2.0 : 1.0, 2})}};
      EXPECT_TRUE(std::isnan(samples.value())) << metric;
      EXPECT_TRUE(std::isnan(samples.value({1, 1, 1}))) << metric;
      EXPECT_TRUE(std::isnan(samples.value({2, 1}, 2))) << metric << " of two towers";
    }
  }
}

MetricOfSamples of_three_classes(const std::string& yaml, const std::vector<int>& predicted,
                                 const std::vector<int32_t>& actual) {
  std::vector<double> scores;
  for (const int chosen : predicted) {
    for (int c = 0; c < 3; ++c) scores.push_back(chosen < 0 ? kNan : c == chosen ? 1 : 0);
  }
  const auto samples = static_cast<int64_t>(actual.size());
  return {yaml, {"logits", "label"}, {Tensor::of({samples, 3}, scores), Tensor::of({samples}, actual)}};
}

/// Scores that are NaN predict a class of their own, as in scikit-learn's matthews_corrcoef with such labels.
TEST(MatthewsCorrelation, counts_scores_that_are_nan_as_a_wrong_class) {
  const std::string yaml = "MatthewsCorrelation: {logits: logits, labels: label}";
  EXPECT_NEAR(of_three_classes(yaml, {0, 1, 2, -1, -1, 1}, {0, 1, 2, 2, 1, 0}).value(), 0.40032038451271784,
              1e-15);
  EXPECT_EQ(of_three_classes(yaml, {-1, -1}, {0, 1}).value(), 0);
}

TEST(CohenKappa, is_nan_where_chance_always_agrees) {
  const std::string yaml = "CohenKappa: {logits: logits, labels: label}";
  EXPECT_TRUE(std::isnan(of_three_classes(yaml, {1, 1}, {1, 1}).value()));
  EXPECT_EQ(of_three_classes(yaml, {1, 1, 0}, {1, 1, 0}).value(), 1);
}

TEST(Goal, prefers_any_number_to_nan) {
  for (const Goal goal : {Goal::kMin, Goal::kMax}) {
    EXPECT_TRUE(is_better(5, kNan, goal));
    EXPECT_FALSE(is_better(kNan, 5, goal));
    EXPECT_FALSE(is_better(kNan, kNan, goal));
    EXPECT_FALSE(is_better(5, 5, goal));
  }
  EXPECT_TRUE(is_better(1, 2, Goal::kMin));
  EXPECT_TRUE(is_better(2, 1, Goal::kMax));
}

/// Parts: the sums of two terms, then their weights.
TEST(SumOfMeans, leaves_out_terms_without_samples_but_not_those_that_are_nan) {
  const auto value = [](const std::vector<double>& parts) { return sum_of_means()->value(parts); };
  EXPECT_EQ(value({6, 8, 3, 4, 1}), 2 + 2);
  EXPECT_EQ(value({6, 0, 3, 0, 1}), 2);
  EXPECT_TRUE(std::isnan(value({6, kNan, 3, 0, 1})));
  EXPECT_TRUE(std::isnan(value({0, 0, 0, 0, 1}))) << "there are no samples";
  EXPECT_FALSE(sum_of_means()->has_value(std::vector<double>{0, 0, 0, 0, 1}));
  EXPECT_TRUE(sum_of_means()->has_value(std::vector<double>{0, kNan, 0, 0, 1}));
}

}  // namespace
}  // namespace tpack
