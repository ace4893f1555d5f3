#include "system/process.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

#include "core/error.h"
#include "core/stop.h"
#include "core/text.h"
#include "system/log.h"

namespace tpack {
namespace {

constexpr double kGraceS = 2;

/// The attributes and file actions of a spawn; freed with it.
class SpawnSetup {
 public:
  SpawnSetup() {
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    sigset_t none;
    sigemptyset(&none);
    sigset_t usual;
    sigemptyset(&usual);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) sigaddset(&usual, number);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  posix_spawnattr_t attributes = {};
  posix_spawn_file_actions_t files = {};
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

bool is_program(const std::string& name) {
  const auto can_run = [](const std::string& path) {
    std::error_code failure;
    return std::filesystem::is_regular_file(path, failure) && access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) return can_run(name);
  const char* const path = std::getenv("PATH");
  const std::vector<std::string> folders = split(path == nullptr ? "/bin:/usr/bin" : path, ':');
  return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
    return can_run((folder.empty() ? "." : folder) + "/" + name);
  });
}

}  // namespace

std::string ProcessEnd::str() const {
  if (timed_out) return "ended after the time limit";
  if (exit_code) return "exit code " + std::to_string(*exit_code);
  return "killed by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
}

void warn_if_no_program(const std::string& who, const std::string& name) {
  if (!is_program(name)) log::warning(who + ": program '" + name + "' not found");
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& added) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!added.contains(std::string(text.substr(0, text.find('='))))) all.emplace_back(text);
  }
  for (const auto& [name, value] : added) all.push_back(name + "=" + value);
  return all;
}

ChildProcess::ChildProcess(const std::vector<std::string>& command,
                           const std::map<std::string, std::string>& environment) {
  TPACK_ASSERT(!command.empty(), "a process without a command");
  const SpawnSetup setup;
  std::vector<std::string> arguments = command;
  std::vector<std::string> variables = environment_with(environment);
  const int error = posix_spawnp(&id_, command[0].c_str(), &setup.files, &setup.attributes,
                                 pointers(arguments).data(), pointers(variables).data());
  if (error != 0) throw ResourceError("cannot start '" + command[0] + "': " + std::strerror(error));
  waiter_ = std::thread([this] { wait_for_end(); });
}

ChildProcess::~ChildProcess() {
  stop(kGraceS);
  waiter_.join();
}

/// Until it is removed from the process table (under the lock), no other process can have its number.
void ChildProcess::wait_for_end() {
  siginfo_t info = {};
  while (waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) continue;
  {
    const std::lock_guard lock(mutex_);
    int status = 0;
    ProcessEnd end;
    if (waitpid(id_, &status, 0) == id_) {
      if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
      if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
    }
    end_ = end;
  }
  changed_.notify_all();
}

std::optional<ProcessEnd> ChildProcess::ended() {
  const std::lock_guard lock(mutex_);
  return end_;
}

ProcessEnd ChildProcess::wait(double timeout_s, const std::stop_token& stop) {
  {
    std::unique_lock lock(mutex_);
    const std::chrono::duration<double> timeout(timeout_s);
    if (changed_.wait_for(lock, stop, timeout, [this] { return end_.has_value(); })) return *end_;
  }
  ProcessEnd end = this->stop(kGraceS);
  if (stop.stop_requested()) throw Stopped();
  end.timed_out = true;
  return end;
}

ProcessEnd ChildProcess::stop(double grace_s) {
  std::unique_lock lock(mutex_);
  const auto has_ended = [this] { return end_.has_value(); };
  if (!has_ended()) {
    ::kill(-id_, SIGTERM);
    if (!changed_.wait_for(lock, std::chrono::duration<double>(grace_s), has_ended)) {
      ::kill(-id_, SIGKILL);
      changed_.wait(lock, has_ended);
    }
  }
  return *end_;
}

}  // namespace tpack
