#include <gtest/gtest.h>

#include "environment/environment.h"

namespace tpack {
namespace {

/// tests/golden/cart_pole_test.cpp compares its motion with the published equations.
TEST(CartPole, is_cut_off_at_the_limit) {
  const auto environment = Registry<Environment>::make("CartPole", {{"limit", 3}});
  Rng rng(1);
  environment->reset(rng);
  EXPECT_EQ(environment->step(0, rng).end, EpisodeEnd::kNone);
  EXPECT_EQ(environment->step(1, rng).end, EpisodeEnd::kNone);
  EXPECT_EQ(environment->step(0, rng).end, EpisodeEnd::kCutOff);
}

TEST(CartPole, is_over_when_it_falls_in_the_last_step) {
  const auto environment = Registry<Environment>::make("CartPole", {{"limit", 1}});
  Rng rng(1);
  environment->restore({0, 0, 0.2, 1.5, 0});
  EXPECT_EQ(environment->step(0, rng).end, EpisodeEnd::kOver);
  environment->restore({2.39, 2, 0, 0, 0});
  EXPECT_EQ(environment->step(0, rng).end, EpisodeEnd::kOver);
}

TEST(CartPole, begins_near_the_upright_middle) {
  const auto environment = Registry<Environment>::make("CartPole");
  double largest = 0;
  for (uint64_t i = 0; i < 100; ++i) {
    Rng rng(i);
    environment->reset(rng);
    for (size_t k = 0; k < 4; ++k) largest = std::max(largest, std::abs(environment->state()[k]));
  }
  EXPECT_LE(largest, 0.05);
  EXPECT_GT(largest, 0.045);
}

}  // namespace
}  // namespace tpack
