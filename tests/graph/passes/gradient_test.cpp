#include "graph/passes/gradient.h"

#include <gtest/gtest.h>

#include "testkit/gradient_check.h"

namespace tpack {
namespace {

TEST(Gradients, adds_up_over_all_paths) {
  // d/dx (x * x + 3 x) = 2 x + 3
  const auto slope = [](Builder& b, std::span<const Symbol> in) {
    const Symbol y = b.add(b.mul(in[0], in[0]), b.mul(in[0], 3.0));
    return gradients(b, b.reduce_sum(y), in);
  };
  const auto dx = testkit::evaluate(slope, {Tensor::of<double>({2}, {1, -2})}, DType::kFloat64);
  EXPECT_TRUE(bit_equal(dx[0], Tensor::of<double>({2}, {5, -1})));
}

TEST(Gradients, can_be_taken_twice) {
  // d2/dx2 exp(2 x) = 4 exp(2 x)
  const auto curvature = [](Builder& b, std::span<const Symbol> in) {
    const Symbol y = b.reduce_sum(b.exp(b.mul(in[0], 2.0)));
    const Symbol first = b.reduce_sum(gradients(b, y, in)[0]);
    return gradients(b, first, in);
  };
  const auto d2 = testkit::evaluate(curvature, {Tensor::of<double>({1}, {0.5})}, DType::kFloat64);
  EXPECT_NEAR(d2[0].at(0), 4 * 2.718281828459045, 1e-12);
}

TEST(Gradients, are_empty_if_no_path_leads_there) {
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {});
  const Symbol x = b.input("x", {DType::kFloat32, {}});
  const Symbol y = b.input("y", {DType::kFloat32, {}});
  const std::vector<Symbol> wrt = {x, y};
  const auto found = gradients(b, b.exp(x), wrt);
  EXPECT_TRUE(found[0]);
  EXPECT_FALSE(found[1]);
}

TEST(Gradients, rejects_a_cost_that_is_not_a_number) {
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {});
  const std::vector<Symbol> wrt = {b.input("x", {DType::kFloat32, {3}})};
  EXPECT_THROW(gradients(b, b.exp(wrt[0]), wrt), ShapeError);
}

}  // namespace
}  // namespace tpack
