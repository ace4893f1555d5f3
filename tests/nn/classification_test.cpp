#include "nn/classification.h"

#include <cmath>

#include <gmock/gmock-matchers.h>

#include "testkit/gradient_check.h"

namespace tpack {
namespace {

/// Two classes with the scores 0 and log(3): probabilities 1/4 and 3/4.
const Tensor kLogits = Tensor::of<double>({3, 2}, {0, std::log(3), 0, std::log(3), 0, 0});

std::vector<Tensor> evaluated(const testkit::Function& function) {
  return testkit::evaluate(function, {kLogits, Tensor::of<uint8_t>({3}, {0, 1, 1})}, DType::kFloat64);
}

TEST(NnClassification, cross_entropy_is_the_mean_over_the_samples) {
  const Tensor cost = evaluated([](Builder& b, std::span<const Symbol> in) {
    return std::vector{nn::cross_entropy(b, in[0], in[1])};
  })[0];
  EXPECT_NEAR(cost.at(0), (std::log(4) + std::log(4.0 / 3) + std::log(2)) / 3, 1e-15);
}

TEST(NnClassification, a_label_that_only_ties_for_the_best_score_is_no_hit) {
  const Tensor hits = evaluated(
      [](Builder& b, std::span<const Symbol> in) { return std::vector{nn::hits(b, in[0], in[1])}; })[0];
  EXPECT_EQ(hits.at(0), 0);
  EXPECT_EQ(hits.at(1), 1);
  EXPECT_EQ(hits.at(2), 0);
}

TEST(NnClassification, statistics_are_sums_and_weights) {
  const std::vector<Tensor> values = evaluated([](Builder& b, std::span<const Symbol> in) {
    const Statistic cost = nn::cost_statistic(b, nn::cross_entropy(b, in[0], in[1]), 3);
    const Statistic accuracy = nn::mean_statistic(b, "accuracy", nn::hits(b, in[0], in[1]));
    EXPECT_EQ(cost.name, "cost");
    EXPECT_EQ(cost.cost, "cost");
    EXPECT_EQ(accuracy.name, "accuracy");
    EXPECT_EQ(accuracy.cost, "");
    return std::vector{cost.sum, cost.weight, accuracy.sum, accuracy.weight};
  });
  EXPECT_NEAR(values[0].at(0), std::log(4) + std::log(4.0 / 3) + std::log(2), 1e-14);
  EXPECT_EQ(values[1].at(0), 3);
  EXPECT_EQ(values[2].at(0), 1);
  EXPECT_EQ(values[3].at(0), 3);
}

}  // namespace
}  // namespace tpack
