#pragma once

#include <array>
#include <optional>
#include <vector>

#include "graph/builder.h"
#include "graph/graph.h"
#include "graph/pointwise.h"

namespace tpack {

/// The replacements of a node's outputs in a rewrite; empty: the node stays.
using Replacement = std::optional<std::vector<Symbol>>;

/// Emits nodes in a rewrite with the convenience of a Builder, under the path of the node that they replace:
/// it is unique, so the names of all other nodes need not be known.
class ReplacementBuilder {
 public:
  ReplacementBuilder(Graph& out, const Node& node)
      : builder_(out, table_, {.float_type = node.outputs[0].dtype, .builds_on = false}),
        scope_(builder_, node.path, node.origin) {}
  Builder& builder() { return builder_; }

 private:
  VariableTable table_;
  Builder builder_;
  Builder::NameScope scope_;
};

/// The element as it is, in a type.
inline pointwise::Expression cast_to(DType type) {
  return {1, {{pointwise::Fn::kInput, {0, -1, -1}}}, {0}, {type}};
}

inline std::vector<Symbol> outputs_of(const Node& node) {
  std::vector<Symbol> all;
  for (size_t i = 0; i < node.outputs.size(); ++i) all.push_back(node.out(static_cast<int>(i)));
  return all;
}

/// By node id: how many nodes, fetches and assignments use each output of a node.
inline std::vector<int> use_counts(const Graph& graph) {
  std::vector<int> counts(graph.size());
  const std::vector<bool> needed = graph.needed();
  for (const auto& node : graph.nodes()) {
    if (!needed[static_cast<size_t>(node->id)]) continue;
    for (const Symbol& input : node->inputs) ++counts[static_cast<size_t>(input.node->id)];
  }
  for (const Symbol& root : graph.roots()) ++counts[static_cast<size_t>(root.node->id)];
  return counts;
}

/// The function of a node whose expression is a single call, and its operands: inputs of the node or numbers.
struct FunctionCall {
  struct Operand {
    Symbol symbol;  // empty: the number
    double value = 0;
  };
  pointwise::Fn fn = pointwise::Fn::kInput;
  std::array<Operand, 3> operands;
};

/// Null function (kInput) if the node is not a pointwise node of one call.
inline FunctionCall call_of(const Node& node) {
  FunctionCall call;
  const auto* op = op_cast<pointwise::Pointwise>(node);
  if (op == nullptr || op->expression().results.size() != 1) return call;
  const pointwise::Expression& e = op->expression();
  const pointwise::Instruction& last = e.code.back();
  FunctionCall found{last.fn, {}};
  for (size_t i = 0; i < static_cast<size_t>(pointwise::arity(last.fn)); ++i) {
    const pointwise::Instruction& load = e.code[static_cast<size_t>(last.args[i])];
    if (load.fn == pointwise::Fn::kInput) {
      found.operands[i].symbol = node.inputs[static_cast<size_t>(load.args[0])];
    } else if (load.fn == pointwise::Fn::kConstant) {
      found.operands[i].value = load.value;
    } else {
      return call;  // more than one call
    }
  }
  return found;
}

/// x of max(x, 0), empty for other nodes.
inline Symbol relu_input(const Node& node) {
  const FunctionCall call = call_of(node);
  if (call.fn != pointwise::Fn::kMax) return {};
  for (const size_t i : {0U, 1U}) {
    const FunctionCall::Operand& other = call.operands[1 - i];
    if (call.operands[i].symbol && !other.symbol && other.value == 0) return call.operands[i].symbol;
  }
  return {};
}

}  // namespace tpack
