#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace tpack {

/// A program that does a part of this process's work: it gets SIGTERM when the thread that started it ends.
/// It is in a process group of its own, so that of Ctrl-C in the terminal only this process learns. Threads:
/// one, which must live as long as the child.
class DependentProcess {
 public:
  struct Options {
    std::string program;               // a path, or a name that is looked up in PATH
    std::vector<std::string> words;    // the command line, the name of the program first
    std::string output = {};           // both outputs are added to this file; empty: they are ours
    std::vector<int> processors = {};  // those that it may use; empty: ours
  };
  // What `wait` gives if the program cannot be run, as a shell does.
  static constexpr int kNotFound = 127;
  static constexpr int kNotStarted = 126;

  /// Errors: ResourceError if the file or the process cannot be made.
  explicit DependentProcess(const Options& options);
  /// Ends it at once if it still runs.
  ~DependentProcess();
  DependentProcess(const DependentProcess&) = delete;
  DependentProcess& operator=(const DependentProcess&) = delete;

  /// Can be read once the process has ended.
  int descriptor() const { return descriptor_; }
  bool has_ended() const;
  /// Sends it a signal. It may have ended.
  void signal(int number) const;
  /// Waits for its end. The exit code; 128 + n if signal n ended it.
  int wait();

 private:
  pid_t pid_ = -1;  // -1: it has ended
  int descriptor_ = -1;
};

}  // namespace tpack
