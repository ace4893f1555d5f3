#include "cli/run_folder.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint.h"
#include "checkpoint/retention.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLock = ".lock";

void make_folder(const std::string& path) {
  std::error_code failure;
  fs::create_directories(path, failure);
  if (failure) throw ResourceError(path + ": the run folder cannot be made: " + failure.message());
}

/// True where there is anything that a run has written.
bool has_content(const std::string& path) {
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.path().filename() != kLock) return true;
  }
  return false;
}

/// Renames PATH to PATH.bak-TIME, a name that is free.
std::string move_to_backup(const std::string& path) {
  const std::string base = path + ".bak-" + time_stamp();
  std::string name = base;
  for (int n = 1; fs::exists(name); ++n) name = base + "-" + std::to_string(n);
  std::error_code failure;
  fs::rename(path, name, failure);
  if (failure) throw ResourceError(path + ": cannot be renamed to " + name + ": " + failure.message());
  return name;
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
  lock();
  try {
    enter(resume);
  } catch (...) {
    close(lock_);
    throw;
  }
}

RunFolder::~RunFolder() { close(lock_); }

void RunFolder::lock() {
  const std::string name = file(kLock);
  lock_ = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock_ < 0) throw ResourceError(name + ": cannot be written: " + std::strerror(errno));
  if (flock(lock_, LOCK_EX | LOCK_NB) == 0) return;
  close(lock_);
  throw ResourceError(path_ + ": another process trains in this folder; give this run another --log-dir");
}

void RunFolder::enter(const ResumeRequest& resume) {
  using Mode = ResumeRequest::Mode;
  if (resume.mode == Mode::kFile) {
    verify_checkpoint(resume.file);
    checkpoint_ = resume.file;
  }
  if (resume.mode == Mode::kNever && has_content(path_)) {
    const std::string backup = move_to_backup(path_);
    close(lock_);
    make_folder(path_);
    lock();
    log::info("what " + path_ + " had is now in " + backup);
  }
  if (resume.mode == Mode::kNone && !list_checkpoints(checkpoints()).empty()) {
    throw ConfigError(path_ +
                      ": has checkpoints of an earlier run; go on with it (--resume auto), move it away " +
                      "(--resume never), or write elsewhere (--log-dir DIR)");
  }
  if (resume.mode == Mode::kAuto) {
    const auto newest = newest_valid_checkpoint(checkpoints());
    if (newest) checkpoint_ = newest->path;
  }
  make_folder(checkpoints());
  for (const std::string& folder : {path_, checkpoints()}) remove_unfinished_files(folder);
  std::error_code ignored;
  fs::remove(file("exit.json"), ignored);
}

std::string ExitRecord::to_json() const {
  const nlohmann::ordered_json record = {
      {"exit_code", exit_code}, {"reason", reason}, {"epoch", epoch}, {"global_step", global_step}};
  return record.dump(1) + "\n";
}

}  // namespace tpack
