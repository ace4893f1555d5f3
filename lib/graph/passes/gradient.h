#pragma once

#include <span>
#include <vector>

#include "graph/builder.h"

namespace tpack {

/// Gradients as new nodes of the same graph: for each of `wrt`, the sum over outputs of seed *
/// d(output)/d(wrt). Empty where no path leads from an output to it. The result can be differentiated again.
/// Errors: InternalError where a node on the path has neither a gradient nor a decomposition.
std::vector<Symbol> vector_jacobian(Builder& b, std::span<const Symbol> outputs,
                                    std::span<const Symbol> seeds, std::span<const Symbol> wrt);

/// Gradients of a scalar cost. Errors: ShapeError where the cost is no scalar.
std::vector<Symbol> gradients(Builder& b, Symbol cost, std::span<const Symbol> wrt);

}  // namespace tpack
