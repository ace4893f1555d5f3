#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace tpack {

/// This program, started once more. It is in a process group of its own, so that Ctrl-C in the terminal
/// reaches this process alone, and gets SIGTERM if this process dies. Threads: one; it must live as long as
/// the child.
class RunProcess {
 public:
  /// `words`: the command line, the name of the program first. Both outputs are added to the file `output`.
  /// `processors`: those that it may use. Errors: ResourceError if it cannot be started.
  RunProcess(const std::vector<std::string>& words, const std::string& output,
             const std::vector<int>& processors);
  /// Ends it at once if it still runs.
  ~RunProcess();
  RunProcess(const RunProcess&) = delete;
  RunProcess& operator=(const RunProcess&) = delete;

  /// Can be read once the process has ended.
  int descriptor() const { return descriptor_; }
  /// Asks it to stop. It may have ended.
  void terminate() const;
  /// Waits for its end. The exit code; 128 + n if signal n ended it.
  int wait();

 private:
  pid_t pid_ = -1;  // -1: it was waited for
  int descriptor_ = -1;
};

}  // namespace tpack
