#pragma once

#include "dataflow/data_flow.h"
#include "graph/tower_function.h"

namespace tpack {

/// A warning for each term of the cost whose predictions are the output of a linear layer, which starts near
/// 0, while its targets in data.train are far from 1: such a network needs long to reach them. Reads the
/// first samples, unless they can only be read once, as those of an agent. Errors: those of DataFlow::prepare
/// and Cursor::next.
void warn_of_far_targets(const TowerFunction& tower, const DataFlow& train);

}  // namespace tpack
