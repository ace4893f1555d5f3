#include "graph/passes/simplify.h"

#include <gtest/gtest.h>

#include "graph/builder.h"
#include "graph/structural.h"
#include "ops/random_uniform.h"

namespace tpack {
namespace {

class SimplifyTest : public testing::Test {
 protected:
  Graph graph_;
  VariableTable table_;
  Builder b_{graph_, table_, {}};
  Symbol x_ = b_.input("x", {DType::kFloat32, {2, 3}});

  /// Number of nodes left, without inputs, after simplifying what `y` needs.
  size_t nodes_after(Symbol y, Stops stops = Stops::kDrop) {
    b_.fetch("y", y);
    size_t count = 0;
    const Graph simple = simplify(graph_, stops);
    const auto needed = simple.needed();
    for (const auto& node : simple.nodes()) {
      count += needed[static_cast<size_t>(node->id)] && op_cast<Input>(*node) == nullptr ? 1 : 0;
    }
    return count;
  }
};

TEST_F(SimplifyTest, removes_arithmetic_with_0_and_1) {
  EXPECT_EQ(nodes_after(b_.mul(b_.add(b_.sub(x_, 0.0), 0.0), 1.0)), 0U);
}

TEST_F(SimplifyTest, keeps_a_zero_that_carries_a_shape) {
  const Symbol wide = b_.broadcast_to(x_, {4, 2, 3});
  b_.fetch("y", wide);
  const Graph simple = simplify(graph_, Stops::kDrop);
  EXPECT_EQ(simple.fetches()[0].value.shape(), (Shape{4, 2, 3}));
}

TEST_F(SimplifyTest, merges_equal_nodes) { EXPECT_EQ(nodes_after(b_.mul(b_.exp(x_), b_.exp(x_))), 2U); }

TEST_F(SimplifyTest, composes_reshapes_and_transposes) {
  const Symbol back = b_.transpose(b_.transpose(x_, {1, 0}), {1, 0});
  EXPECT_EQ(nodes_after(b_.reshape(b_.reshape(back, {6}), {3, 2})), 1U);
}

TEST_F(SimplifyTest, folds_what_only_constants_make) {
  EXPECT_EQ(nodes_after(b_.mul(x_, b_.exp(b_.add(b_.constant(0), 0.0)))), 0U);  // x * exp(0)
}

TEST_F(SimplifyTest, keeps_stops_until_the_gradient_was_taken) {
  const Symbol y = b_.exp(b_.stop_gradient(x_));
  EXPECT_EQ(nodes_after(y, Stops::kKeep), 2U);
  Graph again;
  Builder b(again, table_, {});
  const Symbol x = b.input("x", {DType::kFloat32, {2}});
  b.fetch("y", b.exp(b.stop_gradient(x)));
  EXPECT_EQ(simplify(again, Stops::kDrop).size(), 2U);
}

TEST_F(SimplifyTest, keeps_random_draws_apart) {
  const Symbol first = b_.mul(random_uniform(b_, {2, 3}), 1.0);
  const Symbol second = b_.mul(random_uniform(b_, {2, 3}), 1.0);
  EXPECT_EQ(nodes_after(b_.sub(first, second)), 3U);
}

}  // namespace
}  // namespace tpack
