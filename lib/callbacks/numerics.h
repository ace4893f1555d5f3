#pragma once

#include <string>

#include "train/run.h"

namespace tpack {

/// The place of a NaN or infinite value in variables of the model or the optimizer: "variable fc/W has nan at
/// [2, 1]"; "" if all are finite.
std::string bad_variable(Run& run);
/// Ends the run if there is one. Errors: Diverged.
void check_variables(Run& run);
/// Throws Diverged: `what` was found after the steps so far. `fix`: advice.
inline constexpr const char* kCalmerSteps = "try a smaller learning rate, or GlobalNormClip for the gradient";
[[noreturn]] void diverged(const Run& run, const std::string& what, const std::string& fix = kCalmerSteps);

}  // namespace tpack
