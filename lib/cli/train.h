#pragma once

#include <string>
#include <vector>

#include "cli/run_folder.h"

namespace tpack {

/// What the command line of `tpack train` says.
struct TrainOptions {
  std::string program = "tpack";  // as it was called
  std::string config;
  std::vector<std::string> overrides;
  ResumeRequest resume;
  std::string log_dir;  // empty: train_log/NAME
  std::string plan;     // a file; empty: that of the checkpoint, or a new one
  bool replan = false;  // choose anew where a checkpoint has a plan
};

/// Trains; returns the exit code. Errors are reported, never thrown: they end all ranks.
int train(const TrainOptions& options);

}  // namespace tpack
