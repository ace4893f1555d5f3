#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tpack {

/// A program that writes samples to its standard output, started without a shell; each string is one
/// argument. What it writes to stderr is logged. It ends with this object: SIGTERM, and SIGKILL two seconds
/// later; and with this process, however that ends. Threads: one at a time, any.
class SampleProgram {
 public:
  /// Errors: ResourceError if it cannot be started.
  SampleProgram(std::vector<std::string> command, std::map<std::string, std::string> environment);
  ~SampleProgram();
  SampleProgram(const SampleProgram&) = delete;
  SampleProgram& operator=(const SampleProgram&) = delete;

  /// Waits for output and copies some of it; returns the number of bytes, 0 at the end. Errors: Stopped
  /// (ReadStop).
  size_t read(void* to, size_t most);
  /// Waits for the end of the program after the end of its output: its exit code, 128 + n for signal n.
  int exit_code();
  /// The last lines that it wrote to stderr, after `exit_code`; empty if there are none.
  std::string last_words();

 private:
  void watch();

  std::vector<std::string> command_;
  std::map<std::string, std::string> environment_;
  int output_ = -1;  // end of the pipe for reading
  int stop_ = -1;    // an event
  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_started_ = false;
  std::exception_ptr failure_;
  int exit_code_ = -1;  // -1: it runs
  std::deque<std::string> last_lines_;
  std::thread watcher_;  // starts the program, which must not outlive this thread
};

}  // namespace tpack
