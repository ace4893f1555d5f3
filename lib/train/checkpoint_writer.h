#pragma once

#include <functional>
#include <future>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "train/run.h"

namespace tpack {

/// Writes the checkpoints of a run to its folder, on another thread while the run continues: of each request,
/// a copy is written. One group of files at a time, so that there is at most one copy. Threads: one at a
/// time.
class CheckpointWriter {
 public:
  /// `run_folder` is empty if the run writes none: requests are then dropped. `io` is used by one thread at a
  /// time.
  CheckpointWriter(std::string run_folder, FileIo& io) : run_folder_(std::move(run_folder)), io_(io) {}

  /// Finishes earlier files, takes the content once, and begins to write a file for each name. Errors: those
  /// of `content` and `finish`.
  void write(std::vector<CheckpointRequest> requests, const std::function<CheckpointContent()>& content);
  /// Tells the requesters about files that have been written, or not: a failure is also logged. Errors: what
  /// `failed` of a request throws.
  void report();
  /// Waits for all files, and reports. Errors: as report.
  void finish();
  /// True if a save failed and none of its kind has succeeded since (with the same name, or any for resume).
  bool lacks_a_save() const { return !failed_.empty(); }
  /// The path of such a save; empty if there is none.
  std::string missing() const { return failed_.empty() ? "" : failed_.begin()->second; }

 private:
  struct File {
    std::string path;
    std::vector<CheckpointRequest> requests;
    CheckpointContent content;
    std::exception_ptr failure = nullptr;
  };
  std::vector<File> files_of(std::vector<CheckpointRequest> requests, CheckpointContent content) const;
  void tell(const File& file);

  std::string run_folder_;
  FileIo& io_;
  std::future<std::vector<File>> writing_;     // its destructor waits
  std::map<std::string, std::string> failed_;  // paths by name; "" for those to resume from
};

}  // namespace tpack
