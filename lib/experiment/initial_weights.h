#pragma once

#include <string>

#include "experiment/experiment.h"

namespace tpack {

/// Errors: ConfigError, with position, if the file that weights are taken from does not exist.
void check_init(const InitSection& init);

/// Takes the weights that `init` names into the variables of a compiled trainer. Returns what was loaded,
/// left out and missing; warns of rules that are for no variable if `warns`. Nothing happens, and the text is
/// empty, without `init`. Errors: ConfigError if no variable fits; CheckpointError.
std::string load_initial_weights(const Experiment& experiment, bool warns);

/// Sets the variables that data.train decides (fill_from_data) on all replicas, and warns of targets that are
/// far from what new weights predict. Errors: as fill_from_data.
void take_values_from_data(const Experiment& experiment, bool has_new_weights);

}  // namespace tpack
