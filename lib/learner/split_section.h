#pragma once

#include "learner/model_config.h"

namespace tpack {

/// Writes the section `split` into the flows: the source of data.train becomes its part `train`, and flows
/// that begin without a source get their part of it. Reports mistakes.
void apply_split(ModelConfig& config, Diagnostics& errors);

}  // namespace tpack
