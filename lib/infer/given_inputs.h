#pragma once

#include <map>
#include <string>
#include <vector>

#include "learner/inference_model.h"

namespace tpack {

/// Values of inputs on the command line, for one sample each.
///
///   label=3            a number, for each element; or the name of a class
///   code=[0.5, -1]     as many numbers as a sample has
///
/// Errors: ConfigError for an unknown input or class, and for values of the wrong form.
std::map<std::string, Tensor> given_inputs(const InferenceModel& model,
                                           const std::vector<std::string>& texts);

}  // namespace tpack
