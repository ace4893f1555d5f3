#include "agents/policy.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace tpack {
namespace {

TEST(DrawAction, draws_by_softmax) {
  const std::vector<float> logits = {1000, 1001, 998.5F};  // as large as no exponential can be
  std::vector<double> weights;
  double all = 0;
  for (const float logit : logits) all += weights.emplace_back(std::exp(logit - 1000.0));
  std::vector<int> drawn(3);
  Rng rng(1);
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const ChosenAction choice = draw_action(logits, rng);
    ++drawn[static_cast<size_t>(choice.action)];
    EXPECT_NEAR(choice.log_probability, std::log(weights[static_cast<size_t>(choice.action)] / all), 1e-6);
  }
  for (size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(drawn[i], kDraws * weights[i] / all, 5 * std::sqrt(kDraws * weights[i] / all)) << i;
}

TEST(DrawAction, never_draws_what_is_impossible) {
  const std::vector<float> logits = {-1e30F, 0, -1e30F};
  Rng rng(1);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(draw_action(logits, rng).action, 1);
}

}  // namespace
}  // namespace tpack
