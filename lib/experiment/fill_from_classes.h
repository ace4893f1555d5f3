#pragma once

#include "experiment/experiment.h"

namespace tpack {

/// Gives the variables that the classes in data.train decide (class_weights: balanced) their values. Opens
/// data.train if there is such a variable. Errors: ConfigError; those of DataFlow::prepare.
void fill_from_classes(const Experiment& experiment);

}  // namespace tpack
