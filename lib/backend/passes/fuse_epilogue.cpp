#include "backend/engine/kernel.h"
#include "backend/passes/fused_ops.h"
#include "backend/passes/passes.h"
#include "backend/passes/patterns.h"
#include "graph/passes/rewrite.h"

namespace tpack {

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
