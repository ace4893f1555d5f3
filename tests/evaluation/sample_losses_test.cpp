#include "evaluation/sample_losses.h"

#include <cmath>

#include <gtest/gtest.h>

#include "graph/builder.h"

namespace tpack {
namespace {

/// What kind of predictions; null: numbers.
using Classes = TargetClasses (*)(const Shape&);

std::optional<ComparedSample> compared(Classes classes, const std::vector<float>& prediction,
                                       const std::vector<float>& target, const std::vector<float>& losses,
                                       std::optional<double> ignored = {}) {
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {Phase::kInference, DType::kFloat32});
  PredictionTarget of;
  of.predictions = b.input("x", {DType::kFloat32, {1, std::ssize(prediction)}});
  if (classes != nullptr) of.classes = classes(of.predictions.shape());
  of.ignored = ignored;
  const auto row = [](const std::vector<float>& values) {
    return Tensor::of<float>({1, std::ssize(values)}, values);
  };
  return compared_sample({of, row(prediction), row(target), row(losses)}, 0);
}

TEST(SampleLosses, are_the_means_of_what_the_term_says) {
  EXPECT_EQ(compared(nullptr, {1, 5}, {3, 5}, {4, 0})->loss, 2);
  EXPECT_EQ(compared(&TargetClasses::of_scores, {1, 2, 0}, {0}, {1.5})->loss, 1.5);
}

TEST(SampleLosses, have_the_class_of_the_highest_score_and_its_probability) {
  const auto sample = compared(&TargetClasses::of_scores, {1, 2, 0}, {0}, {0});
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->actual, 0);
  EXPECT_EQ(sample->predicted, 1);
  EXPECT_NEAR(sample->confidence, std::exp(2.0) / (std::exp(1.0) + std::exp(2.0) + 1), 1e-12);
  EXPECT_EQ(compared(&TargetClasses::of_scores, {1000, 0}, {1}, {0})->confidence, 1) << "no overflow";
}

TEST(SampleLosses, of_a_yes_or_no_are_of_two_classes) {
  const auto one = compared(&TargetClasses::of_logits, {-2}, {1}, {2});
  EXPECT_EQ(one->actual, 1);
  EXPECT_EQ(one->predicted, 0);
  EXPECT_NEAR(one->confidence, 1 / (1 + std::exp(-2.0)), 1e-12);
}

TEST(SampleLosses, of_scores_that_are_not_finite_are_the_worst_and_predict_nothing) {
  const auto of_class = compared(&TargetClasses::of_scores, {NAN, 0}, {1}, {NAN});
  EXPECT_EQ(of_class->loss, INFINITY);
  EXPECT_EQ(of_class->predicted, -1);
  EXPECT_EQ(compared(&TargetClasses::of_logits, {NAN}, {0}, {NAN})->predicted, -1);
  EXPECT_EQ(compared(nullptr, {NAN}, {1}, {NAN})->loss, INFINITY);
}

TEST(SampleLosses, there_is_none_where_nothing_counts) {
  EXPECT_FALSE(compared(&TargetClasses::of_scores, {1, 0}, {2}, {0}));
  EXPECT_FALSE(compared(&TargetClasses::of_scores, {1, 0}, {0}, {0}, 0));
  EXPECT_FALSE(compared(&TargetClasses::of_logits, {1, 0}, {-1, -1}, {0, 0}, -1));
  EXPECT_TRUE(compared(&TargetClasses::of_logits, {1, 0}, {-1, 1}, {0, 0}, -1));
}

}  // namespace
}  // namespace tpack
