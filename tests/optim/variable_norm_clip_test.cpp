#include <gmock/gmock-matchers.h>

#include "optim/updates.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

const live::Fields kVariableNormClip("gradient processor", "VariableNormClip",
                                     {.values = {{"variables", "[b]"}}});

class VariableNormClip : public testing::TestWithParam<Backend> {
 protected:
  /// The steps of SGD with rate 1 for gradients a = [3, 4, 0] and b = [0, 2].
  static std::pair<double, double> step(const std::string& clip) {
    Updates updates("SGD: {learning_rate: 1, gradient: [{VariableNormClip: " + clip + "}]}", 1, GetParam());
    updates.set("@gradient/a", 0, 3);
    updates.set("@gradient/a", 1, 4);
    updates.set("@gradient/b", 1, 2);
    updates.run();
    return {-updates.value("a", 1), -updates.value("b", 1)};
  }
};

TEST_P(VariableNormClip, scales_each_variable_down_alone) {
  const auto [a, b] = step("2.5");
  EXPECT_NEAR(a, 2, 1e-6);
  EXPECT_EQ(b, 2);
}

TEST_P(VariableNormClip, leaves_other_variables_alone) {
  const auto [a, b] = step("{norm: 1, variables: [b]}");
  EXPECT_EQ(a, 4);
  EXPECT_NEAR(b, 1, 1e-6);
}

TEST_P(VariableNormClip, a_gradient_of_zero_stays_zero) {
  Updates updates("SGD: {learning_rate: 1, gradient: [{VariableNormClip: 1}]}", 1, GetParam());
  updates.run();
  EXPECT_EQ(updates.value("a", 0), 0);
}

INSTANTIATE_TEST_SUITE_P(On, VariableNormClip, testing::Values(Backend::kReference, Backend::kCpu),
                         name_of_backend);

TEST(VariableNormClipParams, need_a_norm_above_zero_and_variables_that_exist) {
  EXPECT_THROW(Updates("SGD: {gradient: [VariableNormClip]}"), ConfigError);
  EXPECT_THROW(Updates("SGD: {gradient: [{VariableNormClip: 0}]}"), ConfigError);
  EXPECT_THAT([] { Updates("SGD: {gradient: [{VariableNormClip: {norm: 1, variables: [c]}}]}"); },
              testing::ThrowsMessage<ConfigError>(testing::HasSubstr("no trained variable matches 'c'")));
}

}  // namespace
}  // namespace tpack
