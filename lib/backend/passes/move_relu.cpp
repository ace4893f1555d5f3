#include "backend/passes/passes.h"
#include "backend/passes/patterns.h"
#include "graph/passes/rewrite.h"
#include "ops/pooling.h"

namespace tpack {

Graph move_relu_after_pooling(const Graph& graph) {
  const std::vector<int> uses = use_counts(graph);
  return rewrite(graph, [&](Graph& out, const Node& node, std::span<const Symbol> inputs) -> Replacement {
    if (op_cast<MaxPool>(node) == nullptr || uses[static_cast<size_t>(node.inputs[0].node->id)] != 1)
      return std::nullopt;
    const Symbol before_relu = relu_input(*inputs[0].node);
    if (!before_relu) return std::nullopt;
    const Node& pool = out.add(node.op, {before_relu}, node.path, node.origin);
    const Node& relu =
        out.add(inputs[0].node->op, {pool.out()}, inputs[0].node->path + "_pooled", inputs[0].node->origin);
    return {{relu.out(), pool.out(1)}};
  });
}

}  // namespace tpack
