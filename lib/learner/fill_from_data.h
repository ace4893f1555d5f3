#pragma once

#include "learner/model_config.h"

namespace tpack {

/// Fills the variables that depend on data.train: by its classes (class_weights: balanced), or by the
/// mean and deviation of its numbers (ScaleLike). Opens data.train if there is such a variable; false if
/// there is none. Errors: ConfigError; those of DataFlow::prepare.
bool fill_from_data(const ModelParts& parts, VariableStore& store);

}  // namespace tpack
