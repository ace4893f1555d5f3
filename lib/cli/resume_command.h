#pragma once

#include <string>

#include "run/train.h"

namespace tpack {

/// Processes that train together, and whether `--procs` started them (otherwise mpirun, if they are several).
struct StartedRanks {
  int count = 1;
  bool by_procs = false;
};

/// The command that resumes an interrupted `PROGRAM train`: its config, run folder and changes, with
/// `--resume auto`; words are quoted for a POSIX shell. The plan is in the checkpoint.
std::string resume_command(const std::string& program, const TrainOptions& options, StartedRanks ranks);

}  // namespace tpack
