#include <map>

#include "backend/passes/passes.h"
#include "backend/passes/patterns.h"
#include "graph/passes/rewrite.h"

namespace tpack {
namespace {

using pointwise::Pointwise;

Symbol cast(Graph& out, Symbol x, DType type) {
  const std::string path = x.node->path + "_" + name_of(type);
  return out.add(std::make_shared<const Pointwise>(cast_to(type)), {x}, path, x.node->origin).out();
}

/// float16 has too small a range for the gradients of images.
bool is_rounded(const Node& node, DType type) {
  return node.op->is_product() && (type == DType::kBFloat16 || node.op->window() == nullptr);
}

}  // namespace

Graph round_factors(const Graph& graph, DType type) {
  std::map<Symbol, Symbol> rounded;  // each value once
  return rewrite(graph, [&](Graph& out, const Node& node, std::span<const Symbol> inputs) -> Replacement {
    if (!is_rounded(node, type) || inputs[0].dtype() != DType::kFloat32) return std::nullopt;
    std::vector<Symbol> factors;
    for (const Symbol& x : inputs) {
      auto found = rounded.find(x);
      if (found == rounded.end())
        found = rounded.emplace(x, cast(out, cast(out, x, type), DType::kFloat32)).first;
      factors.push_back(found->second);
    }
    return {{out.add(node.op, factors, node.path, node.origin).out()}};
  });
}

}  // namespace tpack
