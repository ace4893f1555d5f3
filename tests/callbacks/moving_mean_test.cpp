#include "callbacks/moving_mean.h"

#include <gtest/gtest.h>

namespace tpack {
namespace {

double next(MovingMean& mean, double value) {
  mean.update([&](size_t) { return std::optional(value); });
  return mean.value(0);
}

TEST(MovingMean, has_no_bias_towards_zero) {
  MovingMean mean(0.95, 1);
  EXPECT_FALSE(mean.has_value(0));
  EXPECT_DOUBLE_EQ(next(mean, 4), 4);  // the first value alone
  // Weights 0.95 and 1, over their sum.
  EXPECT_DOUBLE_EQ(next(mean, 8), (0.95 * 4 + 8) / 1.95);
  EXPECT_DOUBLE_EQ(next(mean, 1), (0.95 * 0.95 * 4 + 0.95 * 8 + 1) / (0.95 * 0.95 + 0.95 + 1));
}

TEST(MovingMean, of_one_value_is_always_that_value) {
  MovingMean mean(0.95, 1);
  for (int i = 0; i < 1000; ++i) EXPECT_NEAR(next(mean, 0.7), 0.7, 1e-12);
}

TEST(MovingMean, keeps_numbers_apart) {
  MovingMean mean(0.5, 2);
  mean.update([](size_t i) { return i == 0 ? 1.0 : 10.0; });
  mean.update([](size_t i) { return i == 0 ? 4.0 : 40.0; });
  EXPECT_DOUBLE_EQ(mean.value(0), 3);
  EXPECT_DOUBLE_EQ(mean.value(1), 30);
}

TEST(MovingMean, leaves_out_what_has_no_value) {
  MovingMean mean(0.5, 2);
  mean.update([](size_t i) { return i == 0 ? std::optional(1.0) : std::nullopt; });
  EXPECT_TRUE(mean.has_value(0));
  EXPECT_FALSE(mean.has_value(1));
  mean.update([](size_t i) { return i == 1 ? std::optional(7.0) : std::nullopt; });
  EXPECT_DOUBLE_EQ(mean.value(0), 1);
  EXPECT_DOUBLE_EQ(mean.value(1), 7);
}

TEST(MovingMean, continues_bit_exactly_from_its_state) {
  MovingMean mean(0.95, 1);
  for (int i = 0; i < 7; ++i) next(mean, 1.0 / (i + 3));
  State state;
  mean.save(state);
  MovingMean other(0.95, 1);
  other.load(State::from_json(state.to_json(), "x"));
  EXPECT_EQ(next(other, 0.1), next(mean, 0.1));
}

TEST(MovingMean, starts_over_if_the_state_is_of_another) {
  MovingMean two(0.95, 2);
  two.update([](size_t) { return 1.0; });
  State state;
  two.save(state);
  MovingMean one(0.95, 1);
  next(one, 3);
  one.load(state);
  EXPECT_FALSE(one.has_value(0));
  MovingMean other_decay(0.5, 2);
  other_decay.load(state);
  EXPECT_FALSE(other_decay.has_value(0));
}

}  // namespace
}  // namespace tpack
