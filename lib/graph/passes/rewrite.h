#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace tpack {

/// What a rule gives for one node of the old graph: the symbols of the new graph that replace its outputs,
/// or nothing to copy the node. `inputs` are the node's inputs in the new graph.
using RewriteRule = std::function<std::optional<std::vector<Symbol>>(Graph& out, const Node& node,
                                                                     std::span<const Symbol> inputs)>;

/// Makes a new graph from the needed nodes of `graph`, in order, each replaced by what the rule says. Fetches
/// and assignments follow.
Graph rewrite(const Graph& graph, const RewriteRule& rule);

}  // namespace tpack
