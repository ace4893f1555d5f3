#pragma once

#include <string>

#include "experiment/train.h"

namespace tpack {

/// The command that resumes an interrupted `PROGRAM train`: its config, run folder and changes, with
/// `--resume auto`; words are quoted for a POSIX shell. The plan is in the checkpoint. `ranks`: processes
/// that `mpirun` starts.
std::string resume_command(const std::string& program, const TrainOptions& options, int ranks);

}  // namespace tpack
