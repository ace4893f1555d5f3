#pragma once

#include <string>
#include <vector>

#include "backend/program.h"
#include "graph/tower_function.h"
#include "optim/optimizer.h"

namespace tpack {

/// The training step's first program: forward, and the gradient of the cost into the gradient block. Fetches
/// the tower's statistics and `fetches`. Errors: ConfigError where the cost is missing or depends on no
/// trainable variable.
Graph backward_graph(const TowerFunction& tower, VariableTable& table, const Signature& fed, DType float_type,
                     const std::vector<std::string>& fetches);

/// The second program: the optimizer's update of all variables from the gradient block times `scale`.
Graph update_graph(const Optimizer& optimizer, VariableTable& table, DType float_type, double scale);

/// Declares every variable of training in `table` by building the programs once for a signature, and fixes
/// the order of the flat blocks. Call before the device makes its variables.
void declare_training_variables(const TowerFunction& tower, const Optimizer& optimizer, VariableTable& table,
                                const Signature& fed, DType float_type);

}  // namespace tpack
