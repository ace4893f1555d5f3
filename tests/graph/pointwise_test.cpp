#include "graph/pointwise.h"

#include <cmath>

#include <gtest/gtest.h>

#include "graph/passes/gradient.h"
#include "testkit/gradient_check.h"

namespace tpack::pointwise {
namespace {

TEST(Broadcast, lines_up_trailing_axes) {
  EXPECT_EQ(broadcast({2, 3, 4}, {3, 1}), (Shape{2, 3, 4}));
  EXPECT_EQ(broadcast({}, {5}), (Shape{5}));
  EXPECT_EQ(broadcast({1, 4}, {3, 1}), (Shape{3, 4}));
  EXPECT_THROW(broadcast({2, 3}, {2}), ShapeError);
}

TEST(Evaluate, is_what_the_names_say) {
  EXPECT_EQ(evaluate(Fn::kSelect, 1.0, 7.0, 8.0), 7.0);
  EXPECT_EQ(evaluate(Fn::kSelect, 0.0, 7.0, 8.0), 8.0);
  EXPECT_EQ(evaluate(Fn::kGreater, 2.0, 2.0, 0.0), 0.0);
  EXPECT_EQ(evaluate(Fn::kGreaterEqual, 2.0, 2.0, 0.0), 1.0);
  EXPECT_EQ(evaluate(Fn::kTrunc, -1.7, 0.0, 0.0), -1.0);
  EXPECT_EQ(evaluate(Fn::kFloor, -1.2, 0.0, 0.0), -2.0);
  EXPECT_NEAR(evaluate(Fn::kSigmoid, 1.0, 0.0, 0.0), 0.7310585786300049, 1e-15);
  EXPECT_TRUE(std::isnan(evaluate<double>(Fn::kMax, NAN, 1.0, 0.0)));
}

TEST(Expression, prints_registers_and_results) {
  const Expression e{2,
                     {{Fn::kInput, {0, -1, -1}}, {Fn::kInput, {1, -1, -1}}, {Fn::kMax, {0, 1, -1}}},
                     {2, 0},
                     {DType::kFloat32, DType::kInt32}};
  EXPECT_EQ(e.str(), "r0 = i0; r1 = i1; r2 = max(r0, r1) -> r2 float32, r0 int32");
}

TEST(Pointwise, the_slope_of_abs_is_0_at_0) {
  const auto slope = [](Builder& b, std::span<const Symbol> in) {
    return gradients(b, b.reduce_sum(b.abs(in[0])), in);
  };
  const auto dx = testkit::evaluate(slope, {Tensor::of<double>({3}, {-2, 0, 3})}, DType::kFloat64);
  EXPECT_TRUE(bit_equal(dx[0], Tensor::of<double>({3}, {-1, 0, 1})));
}

}  // namespace
}  // namespace tpack::pointwise
