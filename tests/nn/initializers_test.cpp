#include "nn/initializers.h"

#include <gmock/gmock-matchers.h>

namespace tpack {
namespace {

std::vector<double> drawn(const Initialize& initialize) {
  const Tensor values(DType::kFloat64, Shape{4});
  Rng rng(3);
  initialize(values, rng);
  const auto span = values.span<double>();
  return {span.begin(), span.end()};
}

TEST(NnInitializers, weights_are_normal_with_variance_2_over_fan_in_by_default) {
  Rng rng(3);
  std::vector<double> expected(4);
  for (double& value : expected) value = 0.2 * rng.normal();  // sqrt(2 / 50)
  const std::vector<double> found = drawn(nn::initial_weights({}, {50, 10}));
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-15);
  EXPECT_THAT(drawn(nn::initial_weights(nn::constant(0.5), {50, 10})), testing::Each(0.5));
}

TEST(NnInitializers, values_without_fans_are_zeros_by_default) {
  EXPECT_FALSE(nn::initial_values({}));
  EXPECT_THAT(drawn(nn::initial_values(nn::constant(0.5))), testing::Each(0.5));
  EXPECT_THAT(drawn(nn::initial_values(nn::normal(3, 0))), testing::Each(3));
}

}  // namespace
}  // namespace tpack
