#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/builder.h"
#include "optim/optimizer.h"
#include "parallel/program.h"

namespace tpack {

/// Emits a forward pass and gives its cost (empty in inference); what it fetches stays fetched. A model's
/// tower function, or anything else that ends in a cost.
using ForwardFunction = std::function<Symbol(Builder& b, const Signature& fed)>;

/// The training step's first program: forward, and the gradient of the cost into the gradient block.
/// Errors: ConfigError where the cost is missing or depends on no trainable variable.
Graph backward_graph(const ForwardFunction& forward, VariableTable& table, const Signature& fed,
                     DType float_type);

/// The second program: the optimizer's update of all variables from the gradient block times `scale`.
Graph update_graph(const Optimizer& optimizer, VariableTable& table, DType float_type, double scale);

/// Forward alone.
Graph inference_graph(const ForwardFunction& forward, VariableTable& table, const Signature& fed,
                      DType float_type);

/// Declares every variable of training in `table` by building the programs once for a signature, and fixes
/// the order of the flat blocks. Call before the device makes its variables.
void declare_training_variables(const ForwardFunction& forward, const Optimizer& optimizer,
                                VariableTable& table, const Signature& fed, DType float_type);

}  // namespace tpack
