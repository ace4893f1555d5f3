#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "monitor/monitor.h"

namespace tpack {

/// The status of a run, from the files of its folder.
struct RunStatus {
  enum class State : uint8_t {
    kRunning,
    kStalled,  // nothing was written for a long time: the process may have been killed
    kFinished,
    kPaused,  // at the end of an epoch (--until-epoch), for example by halving
    kInterrupted,
    kFailed
  };
  State state = State::kRunning;
  int64_t epoch = 0;                 // the last one with statistics
  std::optional<int64_t> max_epoch;  // empty if the config does not set it
  int64_t global_step = 0;
  std::optional<double> samples_per_s;
  std::optional<double> seconds_left;  // of training; while it runs
  std::string message;                 // the last line of the log; why it failed
};
/// "running", "stalled", ...
const char* status_name(RunStatus::State state);

/// Watches a run folder: reads its stats.json, log.txt, exit.json and config.yaml again when they change.
class RunWatch {
 public:
  explicit RunWatch(std::string folder) : folder_(std::move(folder)) {}

  const std::string& folder() const { return folder_; }
  /// `now_s`: the time since 1970.
  void refresh(double now_s);
  const RunStatus& status() const { return status_; }
  const std::vector<StatRecord>& records() const { return records_; }

 private:
  /// A file as it was when it was read.
  struct Stamp {
    double time_s = 0;  // 0: there is none
    uint64_t bytes = 0;

    bool operator==(const Stamp&) const = default;
  };
  static Stamp stamp_of(const std::string& path);
  bool has_changed(const char* name, Stamp& seen) const;
  void read_statistics();
  void read_config();
  void read_log();
  void read_exit();
  std::optional<double> seconds_of_epoch() const;

  std::string folder_;
  Stamp stats_;
  Stamp log_;
  Stamp exit_;
  Stamp config_;
  bool has_ended_ = false;
  RunStatus::State ending_ = RunStatus::State::kFinished;
  std::string reason_;
  std::string last_line_;
  RunStatus status_;
  std::vector<StatRecord> records_;
};

/// True if a run has written to the folder.
bool holds_a_run(const std::string& folder);

}  // namespace tpack
