#pragma once

#include <atomic>
#include <csignal>
#include <stop_token>
#include <string>
#include <thread>

namespace tpack {

/// Turns SIGINT, SIGTERM and SIGHUP into a request to stop, SIGUSR1 and SIGUSR2 into one to save, and ignores
/// SIGPIPE. While somebody watches for
/// that (`expect_orderly_end`) the first one asks for an orderly end; another one ends the process at once
/// with 128 + its number, but for SIGTERM and SIGHUP in the next seconds, and SIGINT within a second after
/// SIGINT, which are the same request once more. Handlers, not a blocked mask: libraries start threads before
/// main() (OpenBLAS does), and those would take the signal. A signal that the process was started to ignore
/// (`nohup`) stays ignored. One at a time in a process.
class SignalWatcher {
 public:
  struct Words {
    std::string next = "finishing the step and saving a checkpoint";  // what follows the first signal
    bool of_early_end = true;  // false: the process that started this one says that nothing was trained
  };
  SignalWatcher() : SignalWatcher(Words()) {}
  explicit SignalWatcher(Words words);
  ~SignalWatcher();
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;

  /// From now on somebody watches the token and ends in an orderly way.
  void expect_orderly_end();
  /// All is saved and said: another signal ends the process without a word.
  void expect_end();
  std::stop_token stop_token() const { return stop_.get_token(); }
  /// Takes back a request to save: the signal that came since the last call; 0 if none did.
  static int take_save_request();
  /// The first signal; 0 if none came.
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
