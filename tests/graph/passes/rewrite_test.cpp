#include "graph/passes/rewrite.h"

#include <gtest/gtest.h>

#include "graph/builder.h"

namespace tpack {
namespace {

TEST(Rewrite, replaces_nodes_and_drops_unused_ones) {
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {});
  const Symbol x = b.input("x", {DType::kFloat32, {2}});
  const Symbol y = b.neg(b.exp(x));
  b.log(x);
  b.fetch("y", y);
  b.assign("v", y);
  // Every negation becomes its input.
  const Graph out = rewrite(
      graph, [](Graph&, const Node& node, std::span<const Symbol> in) -> std::optional<std::vector<Symbol>> {
        if (node.op->key().find("neg") == std::string::npos) return std::nullopt;
        return {{in[0]}};
      });
  EXPECT_EQ(out.size(), 2U);
  EXPECT_NE(out.fetches()[0].value.node->op->key().find("exp"), std::string::npos);
  EXPECT_EQ(out.assignments()[0].value, out.fetches()[0].value);
}

}  // namespace
}  // namespace tpack
