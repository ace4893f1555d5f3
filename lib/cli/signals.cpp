#include "cli/signals.h"

#include <csignal>
#include <cstring>
#include <pthread.h>
#include <string>
#include <unistd.h>

#include "core/log.h"

namespace tpack {
namespace {

constexpr int kWake = SIGUSR2;  // ends the watching thread itself

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, kWake);
  return set;
}

}  // namespace

SignalWatcher::SignalWatcher() {
  const sigset_t set = watched();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread([this] { watch(); });
}

SignalWatcher::~SignalWatcher() {
  ending_ = true;
  pthread_kill(thread_.native_handle(), kWake);
  thread_.join();
}

void SignalWatcher::watch() {
  const sigset_t set = watched();
  while (true) {
    int number = 0;
    if (sigwait(&set, &number) != 0) continue;
    if (number == kWake) {
      if (ending_) return;
      continue;
    }
    if (signal_ != 0) _exit(128 + number);
    signal_ = number;
    log::warning(std::string("signal ") + strsignal(number) +
                 ": finishing the step and saving; once more ends at once");
    stop_.request_stop();
  }
}

}  // namespace tpack
