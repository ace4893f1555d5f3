#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/folder_lock.h"

namespace tpack {

/// The value of `--resume`.
struct ResumeRequest {
  enum class Mode : uint8_t {
    kNone,   // not given: a folder that has checkpoints is rejected
    kAuto,   // the newest valid checkpoint, a best one if there is no other, or a new run if there is none
    kNever,  // a new run; the content of the folder is moved away
    kFile
  };
  Mode mode = Mode::kNone;
  std::string file;

  /// "auto", "never", a path, or "" for none.
  static ResumeRequest parse(const std::string& text);
};

/// The folder of one run, locked during the lifetime of this object, so that two processes cannot write the
/// same files: config.yaml, plan.json, log.txt, stats.json, events, checkpoints/, exit.json.
class RunFolder {
 public:
  /// Creates the folder, or decides how to use it; does not change its content yet. Errors: ConfigError (with
  /// advice) if it has checkpoints but `--resume` is not set; CheckpointError if all of them are damaged;
  /// ResourceError if it cannot be written or another process trains in it.
  RunFolder(std::string path, const ResumeRequest& resume);
  /// Call it after all checks of the config: moves the old content away if requested (if the folder cannot be
  /// renamed, only the files of runs move, to bak-TIME inside it), and removes unfinished files of an earlier
  /// run. Errors: ResourceError.
  void begin();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string checkpoints() const { return file("checkpoints"); }
  /// The checkpoint to continue from.
  const std::optional<std::string>& checkpoint() const { return checkpoint_; }
  /// Moves checkpoints of later steps, best ones included, to checkpoints/archived-TIME, and copies the
  /// config, plan and statistics that belong to them: a run that continues from an older checkpoint becomes a
  /// different run; `auto` must not return to the later checkpoints, and nothing of them is overwritten. If
  /// the checkpoint to continue from is in another folder, all checkpoints and the event files are moved, and
  /// it is copied here, so that `auto` finds it before the first save. True if anything was moved. Errors:
  /// ResourceError.
  bool archive_later_checkpoints(int64_t step) const;
  /// Moves the best checkpoints chosen by a statistic of `flow` to the same folder. Call it if the data of
  /// that flow has changed, because old and new values cannot be compared. Errors: ResourceError.
  void set_best_aside(const std::string& flow) const;

 private:
  void enter(const ResumeRequest& resume);
  bool goes_on_from_elsewhere() const;
  std::vector<std::string> checkpoints_after(int64_t step) const;
  std::vector<std::string> all_of_the_run() const;
  std::string copy_of_what_is_taken_up(int64_t step) const;
  std::string set_aside(const std::vector<std::string>& files) const;
  void use_later(const std::vector<std::string>& best, int64_t step);
  static std::string newest_of(const std::vector<std::string>& checkpoints);
  std::string set_aside_before() const;

  std::string path_;
  std::optional<std::string> checkpoint_;
  bool move_away_ = false;
  std::optional<FolderLock> lock_;
};

/// How a run ended, for exit.json.
struct ExitRecord {
  int exit_code = 0;
  std::string reason;
  int64_t epoch = 0;
  int64_t global_step = 0;
  uint64_t peak_memory_bytes = 0;
  bool is_paused = false;  // by --until-epoch: some epochs remain

  std::string to_json() const;
};

}  // namespace tpack
