#pragma once

#include <string>

#include "train/run.h"

namespace tpack {

/// Ends the run if a variable of the model or the optimizer is NaN or infinite. Errors: Diverged with its
/// name and place.
void check_variables(Run& run);
/// Throws Diverged: `what` was found after the steps so far.
[[noreturn]] void diverged(const Run& run, const std::string& what);

}  // namespace tpack
