#include <cmath>

#include <gmock/gmock-matchers.h>

#include "optim/updates.h"

namespace tpack {
namespace {

class GlobalNormClip : public testing::TestWithParam<Backend> {
 protected:
  /// The step of SGD with rate 1 for gradients a = [3, 0, 0] and b = [0, 4], whose joint norm is 5.
  static std::pair<double, double> step(const std::string& norm, double scale = 1) {
    Updates updates("SGD: {learning_rate: 1, gradient: [{GlobalNormClip: " + norm + "}]}", scale, GetParam());
    updates.set("@gradient/a", 0, 3);
    updates.set("@gradient/b", 1, 4);
    updates.run();
    return {-updates.value("a", 0), -updates.value("b", 1)};
  }
  static double tolerance() { return GetParam() == Backend::kCpu ? 1e-6 : 1e-15; }
};

TEST_P(GlobalNormClip, scales_all_variables_down_together) {
  const auto [a, b] = step("{norm: 2.5}");
  EXPECT_NEAR(a, 1.5, tolerance());
  EXPECT_NEAR(b, 2, tolerance());
}

TEST_P(GlobalNormClip, leaves_a_small_gradient_alone) {
  for (const char* norm : {"5", "{norm: 100}"}) {
    const auto [a, b] = step(norm);
    EXPECT_NEAR(a, 3, tolerance());
    EXPECT_NEAR(b, 4, tolerance());
  }
}

TEST_P(GlobalNormClip, sees_the_mean_over_replicas) {
  const auto [a, b] = step("2.5", 0.5);
  EXPECT_NEAR(a, 1.5, tolerance());
  EXPECT_NEAR(b, 2, tolerance());
}

TEST_P(GlobalNormClip, a_gradient_of_zero_stays_zero) {
  Updates updates("SGD: {learning_rate: 1, gradient: [{GlobalNormClip: 1}]}", 1, GetParam());
  updates.run();
  EXPECT_EQ(updates.value("a", 0), 0);
}

INSTANTIATE_TEST_SUITE_P(On, GlobalNormClip, testing::Values(Backend::kReference, Backend::kCpu),
                         name_of_backend);

TEST(GlobalNormClipParams, need_a_norm_above_zero) {
  EXPECT_THROW(Updates("SGD: {gradient: [GlobalNormClip]}"), ConfigError);
  EXPECT_THROW(Updates("SGD: {gradient: [{GlobalNormClip: 0}]}"), ConfigError);
}

}  // namespace
}  // namespace tpack
