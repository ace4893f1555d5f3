// Properties of quantized numbers that the golden cases do not show.
#include <set>

#include <gtest/gtest.h>

#include "layers/layer_cases.h"
#include "testkit/backend_check.h"

namespace tpack {
namespace {

Tensor of_layer(const std::string& layer, const Tensor& x, Precision precision = Precision::kFp32) {
  return testkit::evaluate_on_cpu(function_of("- " + layer), {x}, {.precision = precision})[0];
}

std::set<double> levels_of(const Tensor& values) {
  std::set<double> levels;
  for (int64_t i = 0; i < values.elements(); ++i) levels.insert(values.at(i));
  return levels;
}

TEST(QuantizeActivation, gives_the_levels_exactly) {
  const Tensor x = random_tensor({50, 100}, 1, DType::kFloat64, -1, 2);
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    for (const int64_t bits : {1, 2, 5}) {
      const auto steps = static_cast<float>((1 << bits) - 1);
      std::set<double> expected;
      for (float level = 0; level <= steps; ++level) expected.insert(static_cast<double>(level / steps));
      const std::string layer = "QuantizeActivation: " + std::to_string(bits);
      EXPECT_EQ(levels_of(of_layer(layer, x, precision)), expected) << bits;
    }
  }
}

TEST(QuantizeWeight, has_as_many_levels_as_its_bits_tell) {
  const Tensor w = random_tensor({50, 100}, 2, DType::kFloat64, -2, 2);
  EXPECT_EQ(levels_of(of_layer("QuantizeWeight: 2", w)).size(), 4U);
  EXPECT_EQ(levels_of(of_layer("QuantizeWeight: 4", w)).size(), 16U);
  double expected = -1;  // the largest weight has an end
  for (const double level : levels_of(of_layer("QuantizeWeight: 4", w))) {
    EXPECT_NEAR(level, expected, 1e-6);
    expected += 2.0 / 15;
  }
}

TEST(QuantizeWeight, of_one_bit_keeps_the_mean_size_and_the_signs) {
  const Tensor w = Tensor::of<float>({5}, {-1, 0.5, 0.25, -0.25, 3});
  const Tensor signs = of_layer("QuantizeWeight: 1", w);
  for (int64_t i = 0; i < 5; ++i) EXPECT_NEAR(signs.at(i), w.at(i) > 0 ? 1 : -1, 1e-6);
}

TEST(QuantizeWeight, of_zeros_is_finite) {
  for (const char* layer : {"QuantizeWeight: 1", "QuantizeWeight: 2"}) {
    const auto all = testkit::evaluate_on_cpu(testkit::with_gradients(function_of(std::string("- ") + layer)),
                                              {Tensor::zeros({DType::kFloat32, {3, 4}})}, {});
    for (const Tensor& values : all)
      for (int64_t i = 0; i < values.elements(); ++i) EXPECT_TRUE(std::isfinite(values.at(i))) << layer;
  }
}

}  // namespace
}  // namespace tpack
