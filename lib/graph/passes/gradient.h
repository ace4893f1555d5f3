#pragma once

#include <span>
#include <vector>

#include "graph/builder.h"

namespace tpack {

/// Gradients as new nodes of the same graph: for each of `wrt`, the sum over outputs of seed *
/// d(output)/d(wrt). Empty if no path leads from an output to it. The result can be differentiated again.
/// Errors: InternalError if a node on the path has neither a gradient nor a decomposition.
std::vector<Symbol> vector_jacobian(Builder& b, std::span<const Symbol> outputs,
                                    std::span<const Symbol> seeds, std::span<const Symbol> wrt);

/// The gradient of one node by way of its decomposition: for each input the sum over the outputs with a `dy`
/// of dy * d(output)/d(input), through the parts alone. An input that depends on another (a later BatchNorm's
/// dy on its x) is held fixed: that path is the caller's. Errors: InternalError if the node's op has no
/// decomposition.
std::vector<Symbol> gradient_through_parts(Builder& b, const Node& node, std::span<const Symbol> dy);

/// Gradients of a scalar cost. Errors: ShapeError if the cost is not a scalar.
std::vector<Symbol> gradients(Builder& b, Symbol cost, std::span<const Symbol> wrt);

}  // namespace tpack
