#include <array>

#include "backend/passes/passes.h"
#include "backend/passes/patterns.h"
#include "graph/passes/rewrite.h"
#include "graph/structural.h"
#include "ops/convolution.h"

namespace tpack {
namespace {

/// By node id: whether the node's results depend on variables and constants alone.
std::vector<bool> independent_of_inputs(const Graph& graph) {
  std::vector<bool> all(graph.size());
  for (const auto& node : graph.nodes()) {
    bool is_independent = op_cast<Input>(*node) == nullptr && !node->op->stateful();
    for (const Symbol& s : node->inputs)
      is_independent = is_independent && all[static_cast<size_t>(s.node->id)];
    all[static_cast<size_t>(node->id)] = is_independent;
  }
  return all;
}

/// The factors of a product of two symbols, the first of the shape of the result.
std::optional<std::array<size_t, 2>> scaled_by_channel(const Node& node) {
  const FunctionCall call = call_of(node);
  if (call.fn != pointwise::Fn::kMul || node.inputs.size() != 2) return std::nullopt;
  const Shape& y = node.outputs[0].shape;
  if (y.rank() != 4) return std::nullopt;
  for (const size_t i : {0U, 1U}) {
    if (node.inputs[i].shape() == y && node.inputs[1 - i].shape() == Shape{y[1], 1, 1}) return {{i, 1 - i}};
  }
  return std::nullopt;
}

}  // namespace

Graph fold_scales(const Graph& graph) {
  if (!graph.assignments().empty()) return copy_of(graph);
  const std::vector<int> uses = use_counts(graph);
  const std::vector<bool> independent = independent_of_inputs(graph);
  return rewrite(graph, [&](Graph& out, const Node& node, std::span<const Symbol> inputs) -> Replacement {
    const auto factors = scaled_by_channel(node);
    if (!factors) return std::nullopt;
    const Node& product = *node.inputs[(*factors)[0]].node;
    const Node& scale = *node.inputs[(*factors)[1]].node;
    const bool is_alone = uses[static_cast<size_t>(product.id)] == 1;
    if (op_cast<Convolution>(product) == nullptr || !is_alone ||
        !independent[static_cast<size_t>(scale.id)] ||
        !independent[static_cast<size_t>(product.inputs[1].node->id)])
      return std::nullopt;
    const Node& made = *inputs[(*factors)[0]].node;
    ReplacementBuilder at(out, node);
    Builder& b = at.builder();
    const Symbol w =
        b.mul(made.inputs[1], b.reshape(inputs[(*factors)[1]], Shape{made.inputs[1].shape()[0], 1, 1, 1}));
    return {{out.add(made.op, {made.inputs[0], w}, made.path, made.origin).out()}};
  });
}

}  // namespace tpack
