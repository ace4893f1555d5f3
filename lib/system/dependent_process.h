#pragma once

#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace tpack {

/// A program that does a part of this process's work: it gets SIGTERM when the thread that started it ends.
/// It has its own process group, so Ctrl-C in the terminal reaches only this process. Threads: one, which
/// must live as long as the child.
class DependentProcess {
 public:
  struct Options {
    std::string program;             // a path, or a name that is looked up in PATH
    std::vector<std::string> words;  // the command line, the name of the program first
    std::string output = {};  // both outputs are appended to this file; empty: the outputs of this process
    int stdout_to = -1;       // an open descriptor for its standard output; -1: as `output` says
    int stderr_to = -1;
    std::map<std::string, std::string> environment = {};  // added to that of this process
    std::vector<int> processors = {};                     // its processors; empty: those of this process
  };
  // Result of `wait` if the program cannot be run, as in a shell.
  static constexpr int kNotFound = 127;
  static constexpr int kNotStarted = 126;

  /// Errors: ResourceError if the file or the process cannot be made.
  explicit DependentProcess(const Options& options);
  /// Ends it at once if it still runs.
  ~DependentProcess();
  DependentProcess(const DependentProcess&) = delete;
  DependentProcess& operator=(const DependentProcess&) = delete;

  /// Becomes readable when the process has ended.
  int descriptor() const { return descriptor_; }
  bool has_ended() const;
  /// Sends it a signal. The process may have ended.
  void signal(int number) const;
  /// Sends a signal to it and to the processes that it started. Before `wait`.
  void signal_all(int number) const;
  /// Waits for its end. Returns the exit code; 128 + n if signal n ended it.
  int wait();

 private:
  pid_t pid_ = -1;  // -1: it has ended
  int descriptor_ = -1;
};

}  // namespace tpack
