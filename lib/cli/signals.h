#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

namespace tpack {

/// Turns SIGINT and SIGTERM into a request to stop: the first one asks for an orderly end, the second one
/// ends the process at once with 128 + its number. Both signals are blocked in this thread and in all that it
/// starts, so make it before other threads. Once a process.
class SignalWatcher {
 public:
  SignalWatcher();
  ~SignalWatcher();
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;

  std::stop_token stop_token() const { return stop_.get_token(); }
  /// The first signal; 0 where none came.
  int signal() const { return signal_; }

 private:
  void watch();

  std::stop_source stop_;
  std::atomic<int> signal_ = 0;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace tpack
