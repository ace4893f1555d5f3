#pragma once

#include <string>

#include "experiment/experiment.h"

namespace tpack {

/// Errors: ConfigError with each file of weights that does not exist, at its position.
void check_init(const InitSection& init);

/// Loads the weights of `init` into the variables of a compiled trainer. Returns a text with loaded, skipped
/// and missing variables; with `warns`, warns about rules without a matching variable. Does nothing and
/// returns an empty text without `init`. Errors: ConfigError if no variable fits; CheckpointError.
std::string load_initial_weights(const Experiment& experiment, bool warns);

/// Sets the variables that data.train decides (fill_from_data) on all replicas, and warns of targets that are
/// far from what new weights predict. Errors: as fill_from_data.
void take_values_from_data(const Experiment& experiment, bool has_new_weights);

}  // namespace tpack
