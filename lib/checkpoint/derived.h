#pragma once

#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"

namespace tpack {

/// What predictions need of a checkpoint: the model, its config and what belongs to its data, without the
/// state of the optimizer, of callbacks and of the run, so training cannot resume from it.
CheckpointContent for_predictions(CheckpointContent content);

/// The mean of the models of checkpoints of one network (Izmailov et al. 2018, "Averaging Weights"), as
/// `for_predictions`; integers, texts and the rest are those of the last file. Moving averages
/// of BatchNorm are averaged, too. Errors: CheckpointError if a model has other variables or shapes than the
/// first; those of load_checkpoint. At least one path.
CheckpointContent average_of(const std::vector<std::string>& paths);

}  // namespace tpack
