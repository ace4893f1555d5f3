#pragma once

#include <string>

#include "cli/train.h"

namespace tpack {

/// The command that goes on with an interrupted run of `tpack train`: its config, run folder and changes,
/// with `--resume auto`; words are quoted for a POSIX shell. The plan is in the checkpoint. `ranks`:
/// processes that `mpirun` starts.
std::string resume_command(const TrainOptions& options, int ranks);

}  // namespace tpack
