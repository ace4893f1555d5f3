#pragma once

#include "experiment/experiment.h"

namespace tpack {

/// Warns of layers whose output nothing uses (no cost, metric, prediction, callback or agent), and of
/// variables that updates train, but that their costs do not depend on: usually a forgotten connection. After
/// the trainer's setup. Without `predict.outputs`, the last layer may be what will be predicted.
void warn_of_what_has_no_effect(const Experiment& experiment);

}  // namespace tpack
