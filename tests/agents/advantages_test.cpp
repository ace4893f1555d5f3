#include "agents/advantages.h"

#include <cmath>

#include <gtest/gtest.h>

#include "core/rng.h"

namespace tpack {
namespace {

/// Equation 16 of the paper, term by term.
double by_the_sum(const std::vector<ValuedStep>& steps, size_t from, double discount, double decay) {
  double advantage = 0;
  for (size_t k = from; k < steps.size(); ++k) {
    const ValuedStep& step = steps[k];
    const double next = step.end == EpisodeEnd::kOver ? 0 : static_cast<double>(step.next_value);
    advantage += std::pow(discount * decay, static_cast<double>(k - from)) *
                 (static_cast<double>(step.reward) + discount * next - static_cast<double>(step.value));
    if (step.end != EpisodeEnd::kNone) break;
  }
  return advantage;
}

TEST(GeneralizedAdvantages, are_the_sums_of_the_paper) {
  std::vector<ValuedStep> steps;
  Rng rng(1);
  for (int i = 0; i < 30; ++i) {
    const EpisodeEnd end = i == 7 ? EpisodeEnd::kOver : i == 19 ? EpisodeEnd::kCutOff : EpisodeEnd::kNone;
    steps.push_back({rng.uniform(-1, 1), end, rng.uniform(-1, 1), rng.uniform(-1, 1)});
  }
  const std::vector<float> advantages = generalized_advantages(steps, 0.9, 0.7);
  for (size_t i = 0; i < steps.size(); ++i)
    EXPECT_NEAR(advantages[i], by_the_sum(steps, i, 0.9, 0.7), 1e-6) << i;
}

TEST(GeneralizedAdvantages, without_decay_are_rewards_less_the_value) {
  const std::vector<ValuedStep> steps = {
      {1, EpisodeEnd::kNone, 5, 7}, {2, EpisodeEnd::kNone, 7, 3}, {4, EpisodeEnd::kCutOff, 3, 10}};
  const std::vector<float> advantages = generalized_advantages(steps, 0.5, 1);
  EXPECT_FLOAT_EQ(advantages[0] + 5, 1 + 0.5F * 2 + 0.25F * 4 + 0.125F * 10);
  EXPECT_FLOAT_EQ(advantages[2] + 3, 4 + 0.5F * 10);
}

}  // namespace
}  // namespace tpack
