#include <map>

#include "backend/passes/passes.h"
#include "backend/passes/patterns.h"
#include "graph/builder.h"
#include "graph/passes/rewrite.h"
#include "ops/matmul.h"

namespace tpack {
namespace {

using pointwise::Expression;
using pointwise::Fn;
using pointwise::Pointwise;

Symbol cast(Graph& out, Symbol x, DType type) {
  Expression expression{.inputs = 1, .code = {{Fn::kInput, {0, -1, -1}}}, .results = {0}, .types = {type}};
  const std::string path = x.node->path + "_" + name_of(type);
  return out.add(std::make_shared<const Pointwise>(std::move(expression)), {x}, path, x.node->origin).out();
}

}  // namespace

Graph round_factors(const Graph& graph, DType type, Factors factors) {
  std::map<Symbol, Symbol> rounded;  // each value once
  return rewrite(graph, [&](Graph& out, const Node& node, std::span<const Symbol> inputs) -> Replacement {
    if (op_cast<MatMul>(node) == nullptr || inputs[0].dtype() != DType::kFloat32) return std::nullopt;
    std::vector<Symbol> operands;
    for (const Symbol& x : inputs) {
      auto found = rounded.find(x);
      if (found == rounded.end()) {
        const Symbol half = cast(out, x, type);
        const bool widens = factors == Factors::kWidened;
        found = rounded.emplace(x, widens ? cast(out, half, DType::kFloat32) : half).first;
      }
      operands.push_back(found->second);
    }
    return {{out.add(node.op, operands, node.path, node.origin).out()}};
  });
}

}  // namespace tpack
