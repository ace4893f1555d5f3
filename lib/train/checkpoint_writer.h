#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "train/run.h"

namespace tpack {

/// Writes the checkpoints of a run to its folder. Threads: one at a time.
class CheckpointWriter {
 public:
  /// `run_folder` is empty if the run writes none: requests are then dropped.
  CheckpointWriter(std::string run_folder, FileIo& io) : run_folder_(std::move(run_folder)), io_(io) {}

  /// Fulfills the requests; `content` is made for each file. A failure is logged and reported to the
  /// requester. Errors: what `failed` of a request throws.
  void write(const std::vector<CheckpointRequest>& requests,
             const std::function<CheckpointContent()>& content);
  /// True if a save failed and none of its kind has succeeded since (with the same name, or any for resume).
  bool lacks_a_save() const { return !failed_.empty(); }
  /// The path of such a save; empty if there is none.
  std::string missing() const { return failed_.empty() ? "" : failed_.begin()->second; }

 private:
  void write_one(const CheckpointRequest& first, const std::vector<CheckpointRequest>& requests,
                 const CheckpointContent& content);

  std::string run_folder_;
  FileIo& io_;
  std::map<std::string, std::string> failed_;  // paths by name; "" for those to resume from
};

}  // namespace tpack
