#include "layers/initializer.h"

#include <cmath>

#include <gmock/gmock-matchers.h>

#include "config/yaml_reader.h"

namespace tpack {
namespace {

struct Moments {
  double mean = 0;
  double deviation = 0;
  double fourth = 0;  // mean of the fourth power of (x - mean) / deviation
  double largest = 0;
};

constexpr int64_t kCount = 200000;

Moments moments_of(const std::string& yaml, nn::Fans fans = {}) {
  const auto initializer = Registry<Initializer>::make_item(parse_yaml(yaml, "i.yaml"));
  const Tensor values(DType::kFloat64, Shape{kCount});
  Rng rng(17);
  initializer->make(fans)(values, rng);
  Moments m;
  for (const double v : values.span<double>()) {
    m.mean += v / kCount;
    m.largest = std::max(m.largest, std::abs(v));
  }
  for (const double v : values.span<double>()) m.deviation += (v - m.mean) * (v - m.mean) / kCount;
  m.deviation = std::sqrt(m.deviation);
  for (const double v : values.span<double>()) m.fourth += std::pow((v - m.mean) / m.deviation, 4) / kCount;
  return m;
}

TEST(VarianceScaling, has_variance_2_over_fan_in_by_default_untruncated) {
  const Moments m = moments_of("VarianceScaling", {50, 10});
  EXPECT_NEAR(m.mean, 0, 0.002);
  EXPECT_NEAR(m.deviation, std::sqrt(2.0 / 50), 0.002);
  EXPECT_NEAR(m.fourth, 3, 0.1);  // normal
  EXPECT_GT(m.largest, 3.5 * m.deviation);
}

TEST(VarianceScaling, truncates_at_two_deviations_and_keeps_the_variance) {
  const Moments m = moments_of("VarianceScaling: {distribution: truncated_normal, scale: 1}", {25, 10});
  EXPECT_NEAR(m.deviation, 0.2, 0.002);
  EXPECT_LE(m.largest, 2 * 0.2 / 0.87962566103423978 + 1e-12);
}

TEST(VarianceScaling, draws_uniformly_within_root_three_deviations) {
  const Moments m =
      moments_of("VarianceScaling: {distribution: uniform, scale: 1, mode: fan_out}", {25, 100});
  EXPECT_NEAR(m.deviation, 0.1, 0.001);
  EXPECT_LE(m.largest, 0.1 * std::sqrt(3.0));
  EXPECT_NEAR(m.fourth, 1.8, 0.02);
}

TEST(VarianceScaling, takes_the_mean_of_both_fans) {
  EXPECT_NEAR(moments_of("VarianceScaling: {scale: 1, mode: fan_average}", {10, 40}).deviation, 0.2, 0.002);
}

TEST(NormalInitializer, has_the_mean_and_deviation_it_is_told) {
  const Moments m = moments_of("Normal: {mean: 1, stddev: 0.5}");
  EXPECT_NEAR(m.mean, 1, 0.01);
  EXPECT_NEAR(m.deviation, 0.5, 0.01);
  EXPECT_NEAR(m.fourth, 3, 0.1);
}

TEST(ConstantInitializer, is_constant) {
  const Moments m = moments_of("Constant: {value: 0.25}");
  EXPECT_DOUBLE_EQ(m.largest, 0.25);
  EXPECT_NEAR(m.deviation, 0, 1e-12);
}

}  // namespace
}  // namespace tpack
