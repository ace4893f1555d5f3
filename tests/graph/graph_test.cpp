#include "graph/graph.h"

#include <gtest/gtest.h>

#include "graph/builder.h"

namespace tpack {
namespace {

TEST(Graph, knows_what_its_roots_need_and_who_uses_what) {
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {});
  const Symbol x = b.input("x", {DType::kFloat32, {2}});
  const Symbol used = b.exp(x);
  const Symbol unused = b.log(x);
  b.fetch("y", used);
  const auto needed = graph.needed();
  EXPECT_TRUE(needed[static_cast<size_t>(x.node->id)]);
  EXPECT_TRUE(needed[static_cast<size_t>(used.node->id)]);
  EXPECT_FALSE(needed[static_cast<size_t>(unused.node->id)]);
  EXPECT_EQ(graph.users()[static_cast<size_t>(x.node->id)].size(), 2U);
}

TEST(Graph, prints_one_line_a_node) {
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {});
  const Symbol x = b.input("x", {DType::kFloat32, {2}});
  b.fetch("y", b.mul(x, 0.5));
  EXPECT_EQ(
      graph.str(),
      "%0 = Input{\"name\": \"x\", \"dtype\": \"float32\", \"shape\": [2], \"image\": false}() -> float32 "
      "[2]  # Input\n"
      "%1 = Pointwise{r0 = i0; r1 = 0.5; r2 = mul(r0, r1) -> r2 float32}(%0) -> float32 [2]  # Pointwise\n"
      "fetch y = %1\n");
}

}  // namespace
}  // namespace tpack
