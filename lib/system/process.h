#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <sys/types.h>
#include <thread>
#include <vector>

namespace tpack {

/// The end of a process.
struct ProcessEnd {
  std::optional<int> exit_code;  // none: a signal ended it
  int signal = 0;
  bool timed_out = false;  // ended by the time limit

  bool is_success() const { return exit_code == 0; }
  /// "exit code 3", "killed by signal 9 (Killed)", "ended after the time limit".
  std::string str() const;
};

/// Logs a warning by `who` if there is no program with this name or path.
void warn_if_no_program(const std::string& who, const std::string& name);

/// The environment of this process with `added`, which wins: NAME=VALUE.
std::vector<std::string> environment_with(const std::map<std::string, std::string>& added);

/// Another program that runs next to this process, started without a shell: each string is one argument. It
/// has no input, writes to the stderr of this process, and has its own process group, so that Ctrl-C does not
/// end it and `stop` also ends its children. Threads: one at a time.
class ChildProcess {
 public:
  /// The program is looked up in PATH. `environment` is added to that of this process. Errors: ResourceError
  /// if it cannot be started.
  explicit ChildProcess(const std::vector<std::string>& command,
                        const std::map<std::string, std::string>& environment = {});
  /// Stops it.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Its end; nothing while it runs.
  std::optional<ProcessEnd> ended();
  /// Waits for its end; ends it after this many seconds. Errors: Stopped, after it has been ended.
  ProcessEnd wait(double timeout_s, const std::stop_token& stop = {});
  /// Ends it: with SIGTERM, and with SIGKILL if it is still there `grace_s` later.
  ProcessEnd stop(double grace_s);

 private:
  void wait_for_end();

  pid_t id_ = 0;
  std::optional<ProcessEnd> end_;
  std::mutex mutex_;
  std::condition_variable_any changed_;  // `end_` has a value
  std::thread waiter_;
};

}  // namespace tpack
