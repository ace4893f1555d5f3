#include <cmath>

#include <gmock/gmock.h>

#include "optim/updates.h"

namespace tpack {
namespace {

/// The step that SGD with rate 1 makes for gradients a = [3, 0, 0] and b = [0, 4]: of norm 5 together.
std::pair<double, double> step(const std::string& norm, double scale = 1) {
  Updates updates("SGD: {learning_rate: 1, gradient: [{GlobalNormClip: " + norm + "}]}", scale);
  updates.value("gradient/a", 0) = 3;
  updates.value("gradient/b", 1) = 4;
  updates.run();
  return {-updates.value("a", 0), -updates.value("b", 1)};
}

TEST(GlobalNormClip, scales_all_variables_down_together) {
  const auto [a, b] = step("{norm: 2.5}");
  EXPECT_DOUBLE_EQ(a, 1.5);
  EXPECT_DOUBLE_EQ(b, 2);
}

TEST(GlobalNormClip, leaves_a_small_gradient_alone) {
  for (const char* norm : {"5", "{norm: 100}"}) {
    const auto [a, b] = step(norm);
    EXPECT_DOUBLE_EQ(a, 3);
    EXPECT_DOUBLE_EQ(b, 4);
  }
}

TEST(GlobalNormClip, sees_the_mean_over_replicas) {
  const auto [a, b] = step("2.5", 0.5);
  EXPECT_DOUBLE_EQ(a, 1.5);
  EXPECT_DOUBLE_EQ(b, 2);
}

TEST(GlobalNormClip, a_gradient_of_zero_stays_zero) {
  Updates updates("SGD: {learning_rate: 1, gradient: [{GlobalNormClip: 1}]}");
  updates.run();
  EXPECT_EQ(updates.value("a", 0), 0);
}

TEST(GlobalNormClip, needs_a_norm_above_zero) {
  EXPECT_THROW(Updates("SGD: {gradient: [GlobalNormClip]}"), ConfigError);
  EXPECT_THROW(Updates("SGD: {gradient: [{GlobalNormClip: 0}]}"), ConfigError);
}

}  // namespace
}  // namespace tpack
