#pragma once

#include <string>

#include "checkpoint/checkpoint.h"

namespace tpack {

/// A checkpoint for predictions whose low-rank adapters (nn::dense) are added to the weights that they adapt,
/// in float64: W + scale A B. Its config has no `adapter_rank` and no `adapter_alpha`, so it is that of a
/// model without adapters. `path` is for messages. Errors: CheckpointError if the checkpoint has no adapters,
/// or one without the weights that it adapts (as in a file of adapters alone); ConfigError for a config that
/// cannot be read.
CheckpointContent merged_adapters(CheckpointContent content, const std::string& path);

}  // namespace tpack
