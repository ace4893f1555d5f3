#include "run/run_folder.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint.h"
#include "checkpoint/layout.h"
#include "checkpoint/retention.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/text_encoding.h"
#include "system/file_io.h"
#include "system/log.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLockedBy = "another process trains";
constexpr const char* kArchived = "archived-";
/// Files that a resumed run writes again, unlike log.txt and the event files.
constexpr std::array<const char*, 4> kRewritten = {"config.yaml", "plan.json", "stats.json", "stats.csv"};

void make_folder(const std::string& path) {
  std::error_code failure;
  fs::create_directories(path, failure);
  if (failure) throw ResourceError(path + ": the run folder cannot be created: " + failure.message());
}

/// True if the folder has any file that a run has written.
bool has_content(const std::string& path) {
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.path().filename() != FolderLock::kFile) return true;
  }
  return false;
}

/// True for files that identify a run folder: only such a folder is moved away.
bool is_run_folder(const std::string& path) {
  static constexpr std::array<const char*, 3> kMarks = {"checkpoints", "log.txt", "exit.json"};
  return std::any_of(kMarks.begin(), kMarks.end(),
                     [&](const char* mark) { return fs::exists(fs::path(path) / mark); });
}

/// The name, with a number if it already exists.
std::string unused_name(const std::string& base) {
  std::string name = base;
  for (int n = 1; fs::exists(name); ++n) name = base + "-" + std::to_string(n);
  return name;
}

/// False for files that are damaged or not checkpoints; the code that needs them reports it.
bool is_of_later_step(int64_t step, const std::string& checkpoint) {
  try {
    return checkpoint_step(checkpoint) > step;
  } catch (const CheckpointError&) {
    return false;
  }
}

bool is_whole(const std::string& checkpoint) {
  try {
    verify_checkpoint(checkpoint);
    return true;
  } catch (const CheckpointError&) {
    return false;
  }
}

/// True for files and folders that a run or its callbacks write to a run folder.
bool is_written_by_runs(const std::string& name) {
  static constexpr std::array<const char*, 8> kNames = {"checkpoints", "samples",   "images",  "tensors",
                                                        "config.yaml", "plan.json", "log.txt", "exit.json"};
  static constexpr std::array<const char*, 5> kBeginnings = {"stats.", "events.out.tfevents.", "bad_samples",
                                                             "chrome-trace-", kArchived};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [&](const char* beginning) { return name.starts_with(beginning); });
}

/// Moves the files of runs to PATH/bak-TIME, if the folder itself must stay: a link, a mount point, the
/// working directory.
std::string move_into_backup(const std::string& path) {
  std::string backup = unused_name(path + "/bak-" + time_stamp());
  try {
    fs::create_directory(backup);
    std::vector<fs::path> written;
    for (const auto& entry : fs::directory_iterator(path))
      if (is_written_by_runs(entry.path().filename().string())) written.push_back(entry.path());
    for (const fs::path& one : written) fs::rename(one, backup / one.filename());
  } catch (const fs::filesystem_error& failure) {
    throw ResourceError(path + ": the files of the earlier run cannot be moved to " + backup + ": " +
                        failure.code().message() + "; use another folder (--log-dir DIR)");
  }
  return backup;
}

/// Renames PATH to PATH.bak-TIME; if that is impossible, moves its content.
std::string move_to_backup(const std::string& path) {
  std::error_code failure;
  const std::string last = fs::path(path).filename().string();
  const bool must_stay = fs::is_symlink(path, failure) || last == "." || last == "..";
  if (must_stay) return move_into_backup(path);
  const std::string name = unused_name(path + ".bak-" + time_stamp());
  fs::rename(path, name, failure);
  return failure ? move_into_backup(path) : name;
}

}  // namespace

ResumeRequest ResumeRequest::parse(const std::string& text) {
  if (text.empty()) return {};
  if (text == "auto") return {Mode::kAuto, ""};
  if (text == "never") return {Mode::kNever, ""};
  return {Mode::kFile, text};
}

RunFolder::RunFolder(std::string path, const ResumeRequest& resume) : path_(std::move(path)) {
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  make_folder(path_);
  lock_.emplace(path_, kLockedBy);
  enter(resume);
}

void RunFolder::enter(const ResumeRequest& resume) {
  using Mode = ResumeRequest::Mode;
  if (resume.mode == Mode::kFile) {
    if (!std::filesystem::exists(resume.file))
      throw CheckpointError(resume.file, "no such file; --resume takes auto, never or a checkpoint");
    verify_checkpoint(resume.file);
    checkpoint_ = resume.file;
  }
  move_away_ = resume.mode == Mode::kNever && has_content(path_);
  if (move_away_ && !is_run_folder(path_)) {
    throw ConfigError(
        path_ + ": has files, but is not a run folder, and --resume never moves only run folders away; " +
        "use another folder (--log-dir DIR)");
  }
  const std::vector<std::string> best = list_other_checkpoints(checkpoints());
  if (resume.mode == Mode::kNone && !(list_checkpoints(checkpoints()).empty() && best.empty())) {
    throw ConfigError(path_ +
                      ": has checkpoints of an earlier run; resume it (--resume auto), move it away " +
                      "(--resume never), or use another folder (--log-dir DIR)");
  }
  if (resume.mode == Mode::kAuto) {
    const auto newest = newest_valid_checkpoint(checkpoints());
    if (newest) checkpoint_ = newest->path;
    if (!newest && !best.empty()) checkpoint_ = newest_of(best);
    if (newest) use_later(best, newest->step);
    if (const std::string left = set_aside_before(); !checkpoint_ && !left.empty()) {
      throw ConfigError(path_ + ": has no checkpoint except those in " + left +
                        "; resume one of them (--resume FILE), move them away (--resume never), or use " +
                        "another folder (--log-dir DIR)");
    }
    if (!checkpoint_) log::info(path_ + " has no checkpoint; training starts from the beginning");
  }
}

/// Continues from a checkpoint of a best epoch with more steps: a config may have a MaxSaver alone, or a
/// ModelSaver that saves more rarely.
void RunFolder::use_later(const std::vector<std::string>& best, int64_t step) {
  for (const std::string& file : best) {
    try {
      const CheckpointContent content = load_checkpoint_texts(file);
      if (content.step <= step || !content.texts.contains(layout::kRun)) continue;  // SWA's has weights only
      step = content.step;
      checkpoint_ = file;
    } catch (const CheckpointError& error) {
      log::warning(std::string(error.what()) + "; it is not used");
    }
  }
}

/// The one with the most steps, if a run ended before its first model-STEP.h5. Errors: CheckpointError if one
/// is damaged.
std::string RunFolder::newest_of(const std::vector<std::string>& checkpoints) {
  const auto newest =
      std::max_element(checkpoints.begin(), checkpoints.end(),
                       [](const auto& a, const auto& b) { return checkpoint_step(a) < checkpoint_step(b); });
  log::info("no " + checkpoint_name(checkpoint_step(*newest)) + " or later checkpoint; continuing from " +
            *newest);
  return *newest;
}

/// A folder of archived checkpoints; "" if there is none.
std::string RunFolder::set_aside_before() const {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(checkpoints(), none))
    if (entry.path().filename().string().starts_with(kArchived)) return entry.path().string();
  return "";
}

void RunFolder::begin() {
  if (move_away_) {
    const std::string backup = move_to_backup(path_);
    if (!fs::exists(path_)) {
      lock_.reset();
      make_folder(path_);
      lock_.emplace(path_, kLockedBy);
    }
    log::info("the content of " + path_ + " was moved to " + backup);
  }
  make_folder(checkpoints());
  for (const std::string& folder : {path_, checkpoints()}) remove_unfinished_files(folder);
  std::error_code ignored;
  fs::remove(file("exit.json"), ignored);
}

bool RunFolder::goes_on_from_elsewhere() const {
  std::error_code ignored;  // a folder that is not there is another one
  return !fs::equivalent(fs::absolute(*checkpoint_).parent_path(), checkpoints(), ignored);
}

bool RunFolder::archive_later_checkpoints(int64_t step) const {
  const bool from_elsewhere = goes_on_from_elsewhere();
  const std::vector<std::string> left = from_elsewhere ? all_of_the_run() : checkpoints_after(step);
  const std::string copy = copy_of_what_is_taken_up(step);  // first: there may be no room for it
  if (!left.empty()) {
    const std::string aside = set_aside(left);
    log::info("the run continues from step " + std::to_string(step) + "; " +
              (from_elsewhere ? "the files of an earlier run in this folder" : "later checkpoints") +
              " were moved to " + aside);
  }
  if (copy.empty()) return !left.empty();
  std::error_code failure;
  fs::rename(copy, checkpoints() + "/" + checkpoint_name(step), failure);
  if (failure) throw ResourceError(copy + ": cannot be renamed: " + failure.message());
  return true;
}

void RunFolder::set_best_aside(const std::string& flow) const {
  std::vector<std::string> best;
  for (const std::string& path : list_other_checkpoints(checkpoints())) {
    const std::string name = fs::path(path).filename().string();
    if (name.starts_with("max-" + flow + "_") || name.starts_with("min-" + flow + "_")) best.push_back(path);
  }
  if (best.empty()) return;
  log::info("the best checkpoints of the earlier data." + flow + " were moved to " + set_aside(best));
}

/// Returns the new place of the files.
std::string RunFolder::set_aside(const std::vector<std::string>& files) const {
  const fs::path aside = unused_name(checkpoints() + "/" + kArchived + time_stamp());
  try {
    fs::create_directories(aside);
    for (const char* name : kRewritten) {
      if (fs::exists(file(name))) fs::copy_file(file(name), aside / name);
    }
    for (const std::string& path : files) {
      if (fs::exists(path)) fs::rename(path, aside / fs::path(path).filename());
    }
  } catch (const fs::filesystem_error& failure) {
    throw ResourceError(aside.string() + ": checkpoints cannot be moved here: " + failure.code().message());
  }
  return aside.string();
}

/// If a run is stopped before its first save, the next one must find the same checkpoint. "" if it is already
/// there.
std::string RunFolder::copy_of_what_is_taken_up(int64_t step) const {
  if (!goes_on_from_elsewhere() && is_whole(checkpoints() + "/" + checkpoint_name(step))) return "";
  const auto content = read_whole_file(*checkpoint_);
  if (!content) throw ResourceError(*checkpoint_ + ": cannot be read: " + std::strerror(errno));
  std::string copy = checkpoints() + "/taken-up.h5";
  write_whole_file(copy, *content);
  return copy;
}

std::vector<std::string> RunFolder::checkpoints_after(int64_t step) const {
  std::vector<std::string> later;
  for (const CheckpointFile& file : list_checkpoints(checkpoints()))
    if (file.step > step) later.push_back(file.path);
  for (const std::string& path : list_other_checkpoints(checkpoints()))
    if (is_of_later_step(step, path)) later.push_back(path);
  return later;
}

/// Checkpoints, statistics and event files.
std::vector<std::string> RunFolder::all_of_the_run() const {
  std::vector<std::string> all = checkpoints_after(-1);
  for (const auto& entry : fs::directory_iterator(path_)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("events.out.tfevents.") || name.starts_with("stats."))
      all.push_back(entry.path().string());
  }
  return all;
}

std::string ExitRecord::to_json() const {
  const nlohmann::ordered_json record = {{"exit_code", exit_code},
                                         {"reason", printable(reason)},
                                         {"epoch", epoch},
                                         {"global_step", global_step},
                                         {"peak_memory_bytes", peak_memory_bytes},
                                         {"is_paused", is_paused}};
  return record.dump(1) + "\n";
}

}  // namespace tpack
