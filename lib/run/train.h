#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "comm/comm.h"
#include "run/run_folder.h"
#include "train/loop.h"

namespace tpack {

/// The options of `tpack train`.
struct TrainOptions {
  std::string config;  // a file
  std::vector<std::string> overrides;
  ResumeRequest resume;
  std::string log_dir;                 // empty: train_log/NAME
  std::string plan;                    // a file; empty: that of the checkpoint, or a new one
  bool replan = false;                 // plan again even if a checkpoint has a plan
  std::optional<int64_t> until_epoch;  // end after it; a resumed run continues
};

/// Ways to end a training from outside: signals, a server.
struct Interruption {
  std::stop_token token;                              // a request to save and end
  std::function<void()> on_watched = [] {};           // called once, when the loop begins to check the token
  std::function<int()> exit_code = [] { return 0; };  // in exit.json for an interrupted training
  std::function<std::string()> save_request = nullptr;  // LoopOptions::save_request
};

/// Trains the experiment of a config in a run folder, in this process, one rank of `world`: reads the
/// checkpoint to resume from, writes checkpoints, statistics and exit.json. Returns how the training ended.
/// Errors: ConfigError and DataError before the run folder is changed; CheckpointError, ResourceError,
/// Diverged, DistributedError, GateMissed, whose text is also in exit.json.
LoopResult train(const TrainOptions& options, Comm& world, const Interruption& interruption = {});

/// The folder of a run: --log-dir, or train_log/NAME.
std::string run_folder_path(const TrainOptions& options, const std::string& name);

}  // namespace tpack
