#include "backend/passes/fused_ops.h"
#include "backend/passes/passes.h"
#include "backend/passes/patterns.h"
#include "graph/passes/rewrite.h"

namespace tpack {
namespace {

/// The [filters] vector that a node adds along the channels (or columns) of `to`; empty if it does something
/// else.
Symbol bias_of(const Node& node, Symbol to) {
  const FunctionCall call = call_of(node);
  if (call.fn != pointwise::Fn::kAdd) return {};
  for (const size_t i : {0U, 1U}) {
    Symbol other = call.operands[1 - i].symbol;
    if (!(call.operands[i].symbol == to) || !other) continue;
    const int64_t channels = to.shape()[1];
    Shape lined_up{channels};
    if (to.shape().rank() == 4) lined_up = Shape{channels, 1, 1};
    if (!(other.shape() == lined_up) || other.dtype() != to.dtype()) return {};
    if (op_cast<Reshape>(*other.node) != nullptr) other = other.node->inputs[0];
    return other.shape() == Shape{channels} ? other : Symbol{};
  }
  return {};
}

std::shared_ptr<const Op> with_bias(const Node& node, Activation activation) {
  if (const auto* convolution = op_cast<Convolution>(node)) {
    return std::make_shared<const FusedConvolution>(
        FusedConvolutionParams{convolution->params(), activation});
  }
  const auto* product = op_cast<MatMul>(node);
  if (product != nullptr && node.outputs[0].shape.rank() == 2) {
    return std::make_shared<const FusedMatMul>(FusedMatMulParams{product->params(), activation});
  }
  return nullptr;
}

}  // namespace

Graph fuse_bias_and_activation(const Graph& graph) {
  const std::vector<int> uses = use_counts(graph);
  // A producer may be fused only if no other node uses its output.
  const auto alone = [&](const Symbol& old) { return uses[static_cast<size_t>(old.node->id)] == 1; };
  return rewrite(graph, [&](Graph& out, const Node& node, std::span<const Symbol> inputs) -> Replacement {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Node& producer = *inputs[i].node;
      if (!alone(node.inputs[i])) continue;
      if (const auto fused = with_bias(producer, Activation::kNone)) {
        // bias_of looks at the old node, whose operands are old symbols.
        const Symbol old_bias = bias_of(node, node.inputs[i]);
        if (!old_bias) continue;
        const size_t other = inputs.size() == 2 ? 1 - i : i;
        Symbol bias = inputs[other];
        if (op_cast<Reshape>(*bias.node) != nullptr) bias = bias.node->inputs[0];
        return {{out.add(fused, {producer.inputs[0], producer.inputs[1], bias}, producer.path, node.origin)
                     .out()}};
      }
      if (!relu_input(node)) continue;
      std::shared_ptr<const Op> active;
      if (const auto* c = op_cast<FusedConvolution>(producer)) {
        active = std::make_shared<const FusedConvolution>(
            FusedConvolutionParams{c->params().window, Activation::kRelu});
      } else if (const auto* m = op_cast<FusedMatMul>(producer)) {
        active =
            std::make_shared<const FusedMatMul>(FusedMatMulParams{m->params().product, Activation::kRelu});
      }
      if (active) return {{out.add(active, producer.inputs, producer.path, node.origin).out()}};
    }
    return std::nullopt;
  });
}

}  // namespace tpack
