#pragma once

#include <string>

#include "train/run.h"

namespace tpack {

/// Where a variable of the model or the optimizer is NaN or infinite: "variable fc/W has nan at [2, 1]"; ""
/// if all are finite.
std::string bad_variable(Run& run);
/// Ends the run if there is one. Errors: Diverged.
void check_variables(Run& run);
/// Throws Diverged: `what` was found after the steps so far.
[[noreturn]] void diverged(const Run& run, const std::string& what);
/// "nan at [2, 1]" of the first element that is not finite; "" if there is none.
std::string bad_element(const Tensor& tensor);

}  // namespace tpack
