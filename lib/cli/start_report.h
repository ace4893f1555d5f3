#pragma once

#include <optional>
#include <string>

#include "backend/variable_store.h"
#include "train/run.h"

namespace tpack {

/// What a step, an epoch and a pass are in this run, as a table.
std::string describe_run(const StepSize& size, const RunLength& length,
                         const std::optional<int64_t>& steps_per_pass);
/// The trainable variables with shapes and element counts, as a table.
std::string describe_variables(const VariableStore& store);

}  // namespace tpack
