#pragma once

#include "core/config_node.h"
#include "dataflow/data_flow.h"
#include "graph/tower_function.h"

namespace tpack {

/// Checks that the costs and metrics of `model` ignore the number of ignored labels or pixels of the flow.
/// Errors: ConfigError with the position of each one that treats it as a class.
void check_ignored_labels(const ConfigNode& model, const TowerFunction& tower, const DataFlow& train);

/// Warns about metrics that count labels that the cost ignores.
void warn_of_counted_labels(const ConfigNode& model);

}  // namespace tpack
