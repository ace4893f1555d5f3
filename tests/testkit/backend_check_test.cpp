#include "testkit/backend_check.h"

#include <gtest/gtest.h>

namespace tpack::testkit {
namespace {

/// w * x with a gradient for w that is right in double, which the reference computes in, and twice as large
/// in float: what a kernel that writes to the wrong place looks like.
std::vector<Symbol> product(Builder& b, std::span<const Symbol> in, bool right) {
  const Initialize ones = [](const Tensor& value, Rng& /*rng*/) {
    visit(value.dtype(),
          [&](auto zero) { std::ranges::fill(value.span<decltype(zero)>(), decltype(zero){1}); });
  };
  const Symbol w = b.variable("w", in[0].shape(), ones);
  const bool wrong = !right && b.float_type() == DType::kFloat32;
  const Symbol more = wrong ? b.sub(w, b.stop_gradient(w)) : b.constant(0, w.shape());
  return {b.mul(b.add(w, more), in[0])};
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
