#pragma once

#include "experiment/experiment.h"

namespace tpack {

/// Fills the variables that depend on data.train: by its classes (class_weights: balanced), or by the mean
/// and deviation of its numbers (ScaleLike). Opens data.train if there is such a variable. Errors:
/// ConfigError; those of DataFlow::prepare.
void fill_from_data(const Experiment& experiment);

/// For new weights: warn_of_far_targets of data.train.
void warn_of_far_targets(const Experiment& experiment);

}  // namespace tpack
