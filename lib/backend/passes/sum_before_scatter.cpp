#include <algorithm>

#include "backend/passes/passes.h"
#include "backend/passes/patterns.h"
#include "graph/passes/rewrite.h"
#include "graph/structural.h"
#include "ops/pooling.h"

namespace tpack {

Graph sum_before_scatter(const Graph& graph) {
  return rewrite(graph, [](Graph& out, const Node& node, std::span<const Symbol> inputs) -> Replacement {
    const auto* reduce = op_cast<Reduce>(node);
    if (reduce == nullptr || reduce->params().kind != Reduction::kSum) return std::nullopt;
    const auto& axes = reduce->params().axes;
    const bool whole_image =
        std::count(axes.begin(), axes.end(), 2) == 1 && std::count(axes.begin(), axes.end(), 3) == 1;
    if (!whole_image || op_cast<MaxPoolScatter>(*inputs[0].node) == nullptr) return std::nullopt;
    return {{out.add(node.op, {inputs[0].node->inputs[0]}, node.path, node.origin).out()}};
  });
}

}  // namespace tpack
