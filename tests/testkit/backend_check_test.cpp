#include "testkit/backend_check.h"

#include <cmath>

#include <gtest/gtest.h>

namespace tpack::testkit {
namespace {

/// size * w * x, with a gradient for w that is right in double (as on the reference backend) and twice as
/// large in float: like a kernel that writes to the wrong place.
std::vector<Symbol> product(Builder& b, std::span<const Symbol> in, bool right, double size = 1) {
  const Initialize ones = [](const Tensor& value, Rng& /*rng*/) {
    visit(value.dtype(),
          [&](auto zero) { std::ranges::fill(value.span<decltype(zero)>(), decltype(zero){1}); });
  };
  const Symbol w = b.variable("w", in[0].shape(), ones);
  const bool wrong = !right && b.float_type() == DType::kFloat32;
  const Symbol more = wrong ? b.sub(w, b.stop_gradient(w)) : b.constant(0, w.shape());
  return {b.mul(b.mul(b.add(w, more), in[0]), size)};
}

TEST(CheckBackend, compares_the_gradients_that_are_assigned_to_the_store) {
  const std::vector<Tensor> x = {random_tensor({3, 2}, 1)};
  const auto check = [&](bool right) {
    return check_backend([right](Builder& b, std::span<const Symbol> in) { return product(b, in, right); }, x,
                         {});
  };
  EXPECT_LT(check(true).largest_error, 1e-6);
  const BackendCheckResult wrong = check(false);
  EXPECT_GT(wrong.largest_error, 0.1);
  EXPECT_NE(wrong.text.find("gradient/w [3, 2]"), std::string::npos) << wrong.text;
}

TEST(CheckBackend, finds_a_wrong_gradient_that_is_small) {
  const std::vector<Tensor> x = {random_tensor({3, 2}, 1), random_tensor({3, 2}, 2)};
  for (const double size : {1e-5, 1e-10}) {
    const auto check = [&](bool right) {
      const Function beside_a_large_one = [=](Builder& b, std::span<const Symbol> in) {
        std::vector<Symbol> all = product(b, in, right, size);
        all.push_back(b.exp(in[1]));
        return all;
      };
      return check_backend(beside_a_large_one, x, {});
    };
    EXPECT_LT(check(true).largest_error, 1e-6) << size;
    EXPECT_GT(check(false).largest_error, 0.1) << size;
  }
}

TEST(CheckBackend, finds_what_should_be_zero) {
  const Function small = [](Builder& b, std::span<const Symbol> in) {
    return std::vector{b.mul(in[0], b.float_type() == DType::kFloat32 ? 1e-9 : 0.0)};
  };
  EXPECT_GT(check_backend(small, {random_tensor({4}, 2)}, {}).largest_error, 1);
}

TEST(CheckBackend, finds_a_value_that_is_not_a_number) {
  const auto root = [](double of_negative) {
    return [of_negative](Builder& b, std::span<const Symbol> in) {
      const Symbol more = b.constant(b.float_type() == DType::kFloat32 ? of_negative : 1.0, {1});
      return std::vector{b.add(in[0], b.stop_gradient(b.sqrt(more)))};
    };
  };
  const std::vector<Tensor> x = {random_tensor({3}, 1)};
  EXPECT_LT(check_backend(root(1), x, {}).largest_error, 1e-6);
  EXPECT_EQ(check_backend(root(-1), x, {}).largest_error, HUGE_VAL);
}

TEST(CheckBackend, compares_the_variables_that_a_function_assigns) {
  const auto assigns = [](Builder& b, std::span<const Symbol> in) {
    const Symbol mean = b.variable("mean", in[0].shape(), nullptr, false);
    b.assign("mean", b.add(mean, b.mul(in[0], b.float_type() == DType::kFloat32 ? 1.0 : 1.5)));
    return std::vector{in[0]};
  };
  const BackendCheckResult result = check_backend(assigns, {random_tensor({4}, 2)}, {});
  EXPECT_GT(result.largest_error, 0.01);
  EXPECT_NE(result.text.find("mean [4]"), std::string::npos) << result.text;
}

}  // namespace
}  // namespace tpack::testkit
