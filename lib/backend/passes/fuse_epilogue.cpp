#include "backend/engine/kernel.h"
#include "backend/passes/fused_ops.h"
#include "backend/passes/passes.h"
#include "backend/passes/patterns.h"
#include "graph/passes/rewrite.h"

namespace tpack {
namespace {

using pointwise::Expression;
using pointwise::Fn;
using pointwise::Instruction;

/// The result of a product as it is.
Expression only_result(DType type) { return {1, {{Fn::kInput, {0, -1, -1}}}, {0}, {type}}; }

/// `after` with input `at` computed by `first`. Inputs: those of `first`, then the others of `after`.
Expression composed(const Expression& first, const Expression& after, int at) {
  Expression both = first;
  std::vector<int> renamed;  // by register of `after`
  for (Instruction instruction : after.code) {
    if (instruction.fn == Fn::kInput && instruction.args[0] == at) {
      renamed.push_back(first.results[0]);
      continue;
    }
    if (instruction.fn == Fn::kInput) {
      instruction.args[0] += first.inputs - (instruction.args[0] > at ? 1 : 0);
    } else {
      for (int& argument : instruction.args)
        argument = argument < 0 ? argument : renamed[static_cast<size_t>(argument)];
    }
    renamed.push_back(static_cast<int>(both.code.size()));
    both.code.push_back(instruction);
  }
  both.inputs += after.inputs - 1;
  both.results = {renamed[static_cast<size_t>(after.results[0])]};
  both.types = after.types;
  return both;
}

/// `producer` with `after` in its end, which takes its result as input `at`.
std::shared_ptr<const Fused> with_epilogue(const Node& producer, const Expression& after, int at) {
  if (const auto* fused = op_cast<Fused>(producer))
    return std::make_shared<const Fused>(fused->product(), composed(fused->epilogue(), after, at));
  return std::make_shared<const Fused>(producer.op,
                                       composed(only_result(producer.outputs[0].dtype), after, at));
}

}  // namespace

Graph fuse_epilogues(const Graph& graph, const KernelLibrary& library) {
  const std::vector<int> uses = use_counts(graph);
  return rewrite(graph, [&](Graph& out, const Node& node, std::span<const Symbol> inputs) -> Replacement {
    const auto* op = op_cast<pointwise::Pointwise>(node);
    if (op == nullptr || op->expression().results.size() != 1) return std::nullopt;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Node& producer = *inputs[i].node;
      // A producer may be fused only if no other node uses its output.
      const bool alone = uses[static_cast<size_t>(node.inputs[i].node->id)] == 1;
      if (!alone || !(inputs[i].shape() == node.outputs[0].shape)) continue;
      const auto fused = with_epilogue(producer, op->expression(), static_cast<int>(i));
      std::vector<Symbol> all = producer.inputs;
      for (size_t k = 0; k < inputs.size(); ++k) {
        if (k != i) all.push_back(inputs[k]);
      }
      if (library.fuses(*fused, all)) return {{out.add(fused, all, producer.path, node.origin).out()}};
    }
    return std::nullopt;
  });
}

}  // namespace tpack
