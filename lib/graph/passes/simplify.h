#pragma once

#include "graph/graph.h"

namespace tpack {

/// Whether StopGradient nodes stay: before the gradient is taken they have to.
enum class Stops : uint8_t { kKeep, kDrop };
/// The same values with less work: equal nodes are merged, reshapes and transposes composed, StopGradient
/// dropped, constants folded into pointwise expressions, arithmetic with 0 and 1 removed. Values stay
/// bit-equal, but for the sign of zero and for constants, which are computed in double.
Graph simplify(const Graph& graph, Stops stops);

}  // namespace tpack
