#pragma once

#include <functional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "train/run.h"

namespace tpack {

/// Writes the checkpoints of a run into its folder. Threads: one at a time.
class CheckpointWriter {
 public:
  /// `run_folder` is empty where the run writes none: requests are then dropped.
  CheckpointWriter(std::string run_folder, FileIo& io) : run_folder_(std::move(run_folder)), io_(io) {}

  /// Fulfils the requests; `content` is asked for anew for each file. A failure is logged and told to who
  /// asked. Errors: what `failed` of a request throws.
  void write(const std::vector<CheckpointRequest>& requests,
             const std::function<CheckpointContent()>& content);
  bool last_failed() const { return last_failed_; }

 private:
  void write_one(const std::string& name, const std::vector<CheckpointRequest>& requests,
                 const CheckpointContent& content);

  std::string run_folder_;
  FileIo& io_;
  bool last_failed_ = false;
};

}  // namespace tpack
