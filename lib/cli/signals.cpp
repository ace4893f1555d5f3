#include "cli/signals.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/error.h"
#include "system/log.h"

namespace tpack {
namespace {

// The handler uses only lock-free atomics and a descriptor.
std::atomic<int> first_signal = 0;
std::atomic<bool> ends_orderly = false;
std::atomic<bool> is_over = false;
std::atomic<bool> reports_early_end = true;
std::atomic<int64_t> first_time_ms = 0;
std::atomic<int> wake_descriptor = -1;
std::atomic<int> save_signal = 0;

// A service manager or scheduler signals each process of a group, and parents pass the signal on, so such
// signals arrive several times. Ctrl-C comes from a user; but `timeout -s INT` sends it twice, to the process
// and to its group.
constexpr int64_t kMsOfOneSignal = 3000;
constexpr int64_t kMsOfOneInterrupt = 1000;

int64_t now_ms() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

/// Whether a signal after the first one is the same request.
bool is_repeated(int number) {
  if (first_time_ms == 0) return true;  // the handler of the first one has not reached this point
  if (number == SIGINT && first_signal != SIGINT) return false;
  return now_ms() - first_time_ms < (number == SIGINT ? kMsOfOneInterrupt : kMsOfOneSignal);
}

void wake() {
  const int kept_errno = errno;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_descriptor, &one, sizeof one);
  errno = kept_errno;
}

void say(std::string_view text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

void on_signal(int number) {
  int none = 0;
  if (is_over) _exit(128 + number);
  if (!ends_orderly) {
    if (reports_early_end) say("error: interrupted before training began; nothing was trained\n");
    _exit(128 + number);
  }
  if (first_signal.compare_exchange_strong(none, number)) {
    first_time_ms = now_ms();
  } else if (!is_repeated(number)) {
    say("error: interrupted again: ended immediately, without a checkpoint of the last steps\n");
    _exit(128 + number);
  }
  wake();
}

void on_save_signal(int number) { save_signal = number; }

/// Signals that were ignored before stay ignored, as with `nohup` or background commands of a shell.
bool is_ignored(int number) {
  struct sigaction action = {};
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

void handle(int number, void (*handler)(int)) {
  if (is_ignored(number)) return;
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, nullptr);
}

void handle_by_default(int number) {
  if (!is_ignored(number)) std::signal(number, SIG_DFL);
}

}  // namespace

SignalWatcher::SignalWatcher(Words words) : words_(std::move(words)) {
  first_signal = 0;
  ends_orderly = false;
  is_over = false;
  first_time_ms = 0;
  save_signal = 0;
  reports_early_end = words_.says_early_end;
  wake_descriptor = eventfd(0, EFD_CLOEXEC);
  if (wake_descriptor < 0) throw ResourceError(std::string("eventfd: ") + std::strerror(errno));
  thread_ = std::thread([this] { watch(); });
  handle(SIGINT, on_signal);
  handle(SIGTERM, on_signal);
  handle(SIGHUP, on_signal);
  handle(SIGUSR1, on_save_signal);
  handle(SIGUSR2, on_save_signal);
  before_sigpipe_ = std::signal(SIGPIPE, SIG_IGN);  // the messages have no reader any more: no reason to end
}

SignalWatcher::~SignalWatcher() {
  handle_by_default(SIGINT);
  handle_by_default(SIGTERM);
  handle_by_default(SIGHUP);
  handle_by_default(SIGUSR1);
  handle_by_default(SIGUSR2);
  std::signal(SIGPIPE, before_sigpipe_);
  ending_ = true;
  wake();
  thread_.join();
  close(wake_descriptor.exchange(-1));
}

void SignalWatcher::expect_orderly_end() { ends_orderly = true; }

void SignalWatcher::expect_end() { is_over = true; }

int SignalWatcher::take_save_request() { return save_signal.exchange(0); }

int SignalWatcher::signal() const { return first_signal; }

void SignalWatcher::watch() {
  while (!ending_) {
    uint64_t count = 0;
    if (read(wake_descriptor, &count, sizeof count) != sizeof count || first_signal == 0) continue;
    if (stop_.stop_requested()) continue;
    log::warning(std::string("interrupted by SIG") + sigabbrev_np(first_signal) + ": " + words_.next +
                 "; interrupt again to end immediately");
    stop_.request_stop();
  }
}

}  // namespace tpack
