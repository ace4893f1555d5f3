#include "graph/passes/rewrite.h"

#include "graph/structural.h"

namespace tpack {

Graph rewrite(const Graph& graph, const RewriteRule& rule) {
  Graph out;
  const std::vector<bool> needed = graph.needed();
  std::vector<std::vector<Symbol>> stands_for(graph.size());
  const auto mapped = [&](Symbol s) {
    return stands_for[static_cast<size_t>(s.node->id)][static_cast<size_t>(s.output)];
  };
  for (const auto& node : graph.nodes()) {
    const auto id = static_cast<size_t>(node->id);
    // An input that nothing needs stays: the caller feeds inputs by number.
    if (!needed[id] && op_cast<Input>(*node) == nullptr) continue;
    std::vector<Symbol> inputs;
    for (const Symbol& input : node->inputs) inputs.push_back(mapped(input));
    auto replaced = rule(out, *node, inputs);
    if (!replaced) {
      const Node& copy = out.add(node->op, std::move(inputs), node->path, node->origin);
      replaced.emplace();
      for (int i = 0; i < static_cast<int>(copy.outputs.size()); ++i) replaced->push_back(copy.out(i));
    }
    stands_for[id] = std::move(*replaced);
  }
  for (const Fetch& fetch : graph.fetches()) out.fetch(fetch.name, mapped(fetch.value));
  for (const Assignment& a : graph.assignments()) out.assign(a.variable, mapped(a.value));
  return out;
}

}  // namespace tpack
