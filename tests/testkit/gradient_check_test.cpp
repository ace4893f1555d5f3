#include "testkit/gradient_check.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace tpack::testkit {
namespace {

TEST(CheckGradients, finds_a_wrong_gradient) {
  // The value of exp(x) with the gradient of x: what a forgotten factor looks like.
  const Function wrong = [](Builder& b, std::span<const Symbol> in) {
    return std::vector{b.add(in[0], b.stop_gradient(b.sub(b.exp(in[0]), in[0])))};
  };
  const Function right = [](Builder& b, std::span<const Symbol> in) { return std::vector{b.exp(in[0])}; };
  const std::vector<Tensor> x = {random_tensor({3, 2}, 1)};
  EXPECT_FALSE(check_gradients(wrong, x).ok);
  EXPECT_TRUE(check_gradients(right, x).ok);
}

TEST(CheckGradients, finds_a_wrong_gradient_of_a_variable) {
  const auto product = [](bool right) -> Function {
    return [right](Builder& b, std::span<const Symbol> in) {
      const auto fill = [](const Tensor& value, Rng&) { std::ranges::fill(value.span<double>(), 0.7); };
      const Symbol w = b.variable("w", in[0].shape(), fill);
      const Symbol square = b.mul(w, right ? w : b.stop_gradient(w));
      return std::vector{b.mul(in[0], square)};
    };
  };
  const std::vector<Tensor> x = {random_tensor({3, 2}, 1)};
  EXPECT_TRUE(check_gradients(product(true), x).ok);
  const GradientCheckResult wrong = check_gradients(product(false), x);
  EXPECT_FALSE(wrong.ok);
  EXPECT_TRUE(wrong.text.starts_with("w, element ")) << wrong.text;
}

TEST(CheckGradients, leaves_out_kinks_but_not_too_many) {
  const Function kink = [](Builder& b, std::span<const Symbol> in) {
    return std::vector{b.abs(b.mul(in[0], 1e6))};
  };
  EXPECT_FALSE(check_gradients(kink, {Tensor::of<double>({2}, {0, 1e-7})}).ok);
}

TEST(RandomTensor, keeps_away_from_kinks) {
  const Tensor x = random_tensor({1000}, 3, DType::kFloat64, -1, 1, 0.05);
  for (const double v : x.span<double>()) EXPECT_GE(std::abs(v - std::round(v * 2) / 2), 0.05 - 1e-12);
}

}  // namespace
}  // namespace tpack::testkit
