#include "graph/structural.h"

#include <gtest/gtest.h>

#include "graph/builder.h"
#include "testkit/gradient_check.h"

namespace tpack {
namespace {

std::vector<Tensor> run(const testkit::Function& f, const std::vector<Tensor>& in) {
  return testkit::evaluate(f, in, DType::kFloat64);
}

TEST(Transpose, moves_axes) {
  const Tensor x = Tensor::of<double>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto y = run(
      [](Builder& b, std::span<const Symbol> in) {
        return std::vector{b.transpose(in[0], {1, 0})};
      },
      {x});
  EXPECT_TRUE(bit_equal(y[0], Tensor::of<double>({3, 2}, {1, 4, 2, 5, 3, 6})));
}

TEST(Transpose, rejects_orders_that_are_no_permutation) {
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {});
  const Symbol x = b.input("x", {DType::kFloat32, {2, 3}});
  EXPECT_THROW(b.transpose(x, {0, 0}), ShapeError);
  EXPECT_THROW(b.transpose(x, {0}), ShapeError);
}

TEST(Reduce, sums_and_takes_maxima_over_axes) {
  const Tensor x = Tensor::of<double>({2, 3}, {1, 5, 3, 4, 2, 6});
  const auto y = run(
      [](Builder& b, std::span<const Symbol> in) {
        return std::vector{b.reduce_sum(in[0], {0}), b.reduce_max(in[0], {1}), b.reduce_mean(in[0])};
      },
      {x});
  EXPECT_TRUE(bit_equal(y[0], Tensor::of<double>({3}, {5, 7, 9})));
  EXPECT_TRUE(bit_equal(y[1], Tensor::of<double>({2}, {5, 6})));
  EXPECT_EQ(y[2].at(0), 3.5);
}

TEST(Reduce, shares_the_gradient_among_equal_maxima) {
  const Tensor x = Tensor::of<double>({1, 3}, {2, 2, 1});
  const auto y = run(testkit::with_gradients([](Builder& b, std::span<const Symbol> in) {
                       return std::vector{b.reduce_max(in[0], {1})};
                     }),
                     {x});
  EXPECT_EQ(y[1].at(0), y[1].at(1));
  EXPECT_EQ(y[1].at(2), 0);
}

TEST(Reshape, rejects_other_numbers_of_elements) {
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {});
  const Symbol x = b.input("x", {DType::kFloat32, {2, 3}});
  EXPECT_THROW(b.reshape(x, {7}), ShapeError);
}

TEST(StopGradient, lets_no_gradient_through) {
  const Tensor x = Tensor::of<double>({1}, {3});
  const auto y = run(testkit::with_gradients([](Builder& b, std::span<const Symbol> in) {
                       return std::vector{b.add(b.mul(in[0], in[0]), b.mul(b.stop_gradient(in[0]), 100.0))};
                     }),
                     {x});
  const auto only_square = run(testkit::with_gradients([](Builder& b, std::span<const Symbol> in) {
                                 return std::vector{b.mul(in[0], in[0])};
                               }),
                               {x});
  EXPECT_EQ(y[1].at(0), only_square[1].at(0));
}

}  // namespace
}  // namespace tpack
