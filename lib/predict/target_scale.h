#pragma once

#include "dataflow/data_flow.h"
#include "graph/tower_function.h"

namespace tpack {

/// A warning for each term of the cost whose predictions come straight from a linear layer, which begins near
/// 0, while its targets in data.train are far from 1: such a network takes long to come near them. Reads the
/// first samples, unless they come once only, as those of an agent do. Errors: those of DataFlow::prepare and
/// Cursor::next.
void warn_of_far_targets(const TowerFunction& tower, const DataFlow& train);

}  // namespace tpack
