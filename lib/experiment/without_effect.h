#pragma once

#include "experiment/experiment.h"

namespace tpack {

/// Warns about layers with an unused output (no cost, metric, prediction, callback or agent), and about
/// variables of updates that their costs do not depend on: usually a forgotten connection. After the
/// trainer's setup. Without `predict.outputs`, the last layer may be used for prediction.
void warn_of_what_has_no_effect(const Experiment& experiment);

}  // namespace tpack
