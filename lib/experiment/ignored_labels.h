#pragma once

#include "core/config_node.h"
#include "dataflow/data_flow.h"
#include "graph/tower_function.h"

namespace tpack {

/// Checks that the costs and metrics of `model` leave out the number that labels or masks of the flow have
/// where they do not count. Errors: ConfigError with the place of each one that takes it for a class.
void check_ignored_labels(const ConfigNode& model, const TowerFunction& tower, const DataFlow& train);

/// Warns of metrics that count labels which the cost ignores.
void warn_of_counted_labels(const ConfigNode& model);

}  // namespace tpack
