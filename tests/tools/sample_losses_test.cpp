#include "tools/sample_losses.h"

#include <cmath>

#include <gtest/gtest.h>

namespace tpack {
namespace {

std::optional<JudgedSample> judged(Judgement::Kind kind, const std::vector<float>& prediction,
                                   const std::vector<float>& target, std::optional<double> ignored = {}) {
  Judgement judgement;
  judgement.kind = kind;
  judgement.ignored = ignored;
  const Tensor predictions = Tensor::of<float>({1, std::ssize(prediction)}, prediction);
  const Tensor targets = Tensor::of<float>({1, std::ssize(target)}, target);
  return judged_sample({judgement, predictions, targets}, 0);
}

TEST(SampleLosses, of_a_class_are_the_cross_entropy) {
  const auto sample = judged(Judgement::Kind::kClass, {1, 2, 0}, {0});
  ASSERT_TRUE(sample);
  const double sum = std::exp(1.0) + std::exp(2.0) + 1;
  EXPECT_NEAR(sample->loss, std::log(sum) - 1, 1e-12);
  EXPECT_EQ(sample->actual, 0);
  EXPECT_EQ(sample->predicted, 1);
  EXPECT_NEAR(sample->confidence, std::exp(2.0) / sum, 1e-12);
}

TEST(SampleLosses, of_large_scores_do_not_overflow) {
  EXPECT_EQ(judged(Judgement::Kind::kClass, {1000, 0}, {1})->loss, 1000);
  EXPECT_EQ(judged(Judgement::Kind::kYesOrNo, {1000}, {0})->loss, 1000);
  EXPECT_EQ(judged(Judgement::Kind::kYesOrNo, {1000}, {1})->loss, 0);
}

TEST(SampleLosses, of_scores_that_are_not_finite_are_the_worst) {
  EXPECT_EQ(judged(Judgement::Kind::kClass, {NAN, 0}, {1})->loss, INFINITY);
  EXPECT_EQ(judged(Judgement::Kind::kNumbers, {NAN}, {1})->loss, INFINITY);
}

TEST(SampleLosses, of_a_yes_or_no_are_the_mean_over_labels_that_count) {
  const double of_yes = std::log1p(std::exp(-2.0));
  EXPECT_NEAR(judged(Judgement::Kind::kYesOrNo, {2, 0, 9}, {1, 0, -1}, -1)->loss,
              (of_yes + std::log(2.0)) / 2, 1e-12);
  const auto one = judged(Judgement::Kind::kYesOrNo, {-2}, {1});
  EXPECT_EQ(one->actual, 1);
  EXPECT_EQ(one->predicted, 0);
  EXPECT_NEAR(one->confidence, 1 / (1 + std::exp(-2.0)), 1e-12);
}

TEST(SampleLosses, of_numbers_are_the_mean_squared_difference) {
  EXPECT_EQ(judged(Judgement::Kind::kNumbers, {1, 5}, {3, 5})->loss, 2);
}

TEST(SampleLosses, there_is_none_where_nothing_counts) {
  EXPECT_FALSE(judged(Judgement::Kind::kClass, {1, 0}, {2}));
  EXPECT_FALSE(judged(Judgement::Kind::kClass, {1, 0}, {0}, 0));
  EXPECT_FALSE(judged(Judgement::Kind::kYesOrNo, {1, 0}, {-1, -1}, -1));
}

}  // namespace
}  // namespace tpack
