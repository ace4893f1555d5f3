#pragma once

#include <span>
#include <string>

#include "backend/variable_store.h"
#include "dataflow/data_flow.h"
#include "optim/update.h"
#include "train/run.h"

namespace tpack {

/// The sizes of a step, an epoch and a pass over `train` in this run, as a table. `train` may be null.
std::string describe_run(const StepSize& size, const RunLength& length, const DataFlow* train);
/// The trainable variables with shapes and element counts, and how `updates` train them, as a table.
std::string describe_variables(const VariableStore& store, std::span<const Update> updates);

}  // namespace tpack
