#pragma once

#include <atomic>
#include <csignal>
#include <stop_token>
#include <string>
#include <thread>

namespace tpack {

/// Turns SIGINT, SIGTERM and SIGHUP into a request to stop, SIGUSR1 and SIGUSR2 into a request to save, and
/// ignores SIGPIPE. After `expect_orderly_end`, the first signal requests an orderly end; another one ends
/// the process at once with 128 + its number, except for SIGTERM and SIGHUP in the next seconds, and SIGINT
/// within a second after SIGINT, which repeat the same request. It uses handlers, not a blocked mask, because
/// libraries (such as OpenBLAS) start threads before main(), which would receive the signal. A signal that
/// was ignored when the process started (`nohup`) stays ignored. One at a time in a process.
class SignalWatcher {
 public:
  struct Words {
    std::string next = "finishing the step and saving a checkpoint";  // the action after the first signal
    bool says_early_end = true;  // false: the parent process reports that nothing was trained
  };
  SignalWatcher() : SignalWatcher(Words()) {}
  explicit SignalWatcher(Words words);
  ~SignalWatcher();
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;

  /// From now on, the program checks the token and ends in an orderly way.
  void expect_orderly_end();
  /// Everything is saved and reported: another signal ends the process silently.
  void expect_end();
  std::stop_token stop_token() const { return stop_.get_token(); }
  /// Returns and clears a request to save: the signal since the last call; 0 if there was none.
  static int take_save_request();
  /// The first signal; 0 if there was none.
  int signal() const;

 private:
  void watch();

  Words words_;
  std::stop_source stop_;
  void (*before_sigpipe_)(int) = nullptr;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace tpack
