#include "testkit/gradient_check.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace tpack::testkit {
namespace {

TEST(CheckGradients, finds_a_wrong_gradient) {
  // The value of exp(x) with the gradient of x, like a forgotten factor.
  const Function wrong = [](Builder& b, std::span<const Symbol> in) {
    return std::vector{b.add(in[0], b.stop_gradient(b.sub(b.exp(in[0]), in[0])))};
  };
  const Function right = [](Builder& b, std::span<const Symbol> in) { return std::vector{b.exp(in[0])}; };
  const std::vector<Tensor> x = {random_tensor({3, 2}, 1)};
  EXPECT_FALSE(check_gradients(wrong, x).ok);
  EXPECT_TRUE(check_gradients(right, x).ok);
}

/// exp(x0) + size * exp(x1), the second with the gradient of x1.
Function sum_of_exponentials(double size, bool right) {
  return [size, right](Builder& b, std::span<const Symbol> in) {
    const Symbol value = b.exp(in[1]);
    const Symbol second = right ? value : b.add(in[1], b.stop_gradient(b.sub(value, in[1])));
    return std::vector{b.add(b.exp(in[0]), b.mul(second, size))};
  };
}

TEST(CheckGradients, finds_a_small_wrong_gradient_next_to_a_large_one) {
  const std::vector<Tensor> x = {random_tensor({3, 2}, 1), random_tensor({3, 2}, 2)};
  for (const double size : {1.0, 1e-3, 1e-5}) {
    EXPECT_TRUE(check_gradients(sum_of_exponentials(size, true), x).ok) << size;
    const GradientCheckResult wrong = check_gradients(sum_of_exponentials(size, false), x);
    EXPECT_FALSE(wrong.ok) << size;
    EXPECT_GT(wrong.largest_error, 0.1) << size;
    EXPECT_TRUE(wrong.text.starts_with("input 1, element ")) << wrong.text;
  }
}

TEST(CheckGradients, finds_a_wrong_gradient_of_a_small_function) {
  const std::vector<Tensor> x = {random_tensor({3, 2}, 1), random_tensor({3, 2}, 2)};
  for (const double size : {1e-5, 1e-10}) {
    const auto scaled = [&](bool right) -> Function {
      return [=](Builder& b, std::span<const Symbol> in) {
        return std::vector{b.mul(sum_of_exponentials(1, right)(b, in)[0], size)};
      };
    };
    EXPECT_TRUE(check_gradients(scaled(true), x).ok) << size;
    EXPECT_GT(check_gradients(scaled(false), x).largest_error, 0.1) << size;
  }
}

TEST(CheckGradients, finds_a_gradient_where_there_is_none) {
  const Function flat = [](Builder& b, std::span<const Symbol> in) {
    const Symbol wrong = b.mul(b.sub(in[0], b.stop_gradient(in[0])), 1e-5);  // zero, with a gradient
    return std::vector{b.add(b.exp(in[1]), wrong)};
  };
  EXPECT_FALSE(check_gradients(flat, {random_tensor({3, 2}, 1), random_tensor({3, 2}, 2)}).ok);
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

TEST(CheckGradients, leaves_no_tensor_out_as_a_whole) {
  const Function kink = [](Builder& b, std::span<const Symbol> in) {
    return std::vector{b.add(b.exp(in[0]), b.abs(b.mul(in[1], 1e-3)))};
  };
  const GradientCheckResult result =
      check_gradients(kink, {random_tensor({20}, 1), Tensor::of<double>({1}, {0.5e-5})});
  EXPECT_FALSE(result.ok);
  EXPECT_NE(result.text.find("every element of input 1 is at a kink"), std::string::npos) << result.text;
}

TEST(RandomTensor, keeps_away_from_kinks) {
  const Tensor x = random_tensor({1000}, 3, DType::kFloat64, -1, 1, 0.05);
  for (const double v : x.span<double>()) EXPECT_GE(std::abs(v - std::round(v * 2) / 2), 0.05 - 1e-12);
}

}  // namespace
}  // namespace tpack::testkit
