#include "remote/sample_program.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/error.h"
#include "core/stop.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "dataflow/read_stop.h"
#include "system/dependent_process.h"
#include "system/log.h"

namespace tpack {
namespace {

constexpr double kGraceToEndS = 2;
constexpr int kPollMs = 50;

/// Both ends of a pipe, which close with it.
struct PipeEnds {
  PipeEnds() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
      throw ResourceError(std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  ~PipeEnds() {
    for (const int end : ends)
      if (end >= 0) ::close(end);
  }
  PipeEnds(const PipeEnds&) = delete;
  PipeEnds& operator=(const PipeEnds&) = delete;
  void close_write() {
    ::close(ends[1]);
    ends[1] = -1;
  }
  int take_read() { return std::exchange(ends[0], -1); }

  std::array<int, 2> ends{-1, -1};
};

/// The lines of a descriptor that does not block.
class LineReader {
 public:
  explicit LineReader(int descriptor) : descriptor_(descriptor) { ::fcntl(descriptor, F_SETFL, O_NONBLOCK); }
  /// Passes complete lines to `take`. False at the end.
  template <class Take>
  bool read(const Take& take) {
    std::array<char, 4096> piece{};
    while (true) {
      const ssize_t got = ::read(descriptor_, piece.data(), piece.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return errno == EAGAIN;
      open_.append(piece.data(), static_cast<size_t>(got));
      constexpr size_t kLongest = 4096;
      for (size_t end = 0; (end = open_.find('\n')) != std::string::npos || open_.size() > kLongest ||
                           (got == 0 && !open_.empty());) {
        const size_t size = std::min({end, open_.size(), kLongest});
        take(open_.substr(0, size));
        open_.erase(0, size + (size == end ? 1 : 0));
      }
      if (got == 0) return false;
    }
  }

 private:
  int descriptor_;
  std::string open_;  // the beginning of a line
};

}  // namespace

SampleProgram::SampleProgram(std::vector<std::string> command, std::map<std::string, std::string> environment)
    : command_(std::move(command)), environment_(std::move(environment)) {
  stop_ = ::eventfd(0, EFD_CLOEXEC);
  watcher_ = std::thread([this] { watch(); });
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return has_started_; });
  }
  if (failure_ == nullptr) return;
  watcher_.join();
  ::close(stop_);
  std::rethrow_exception(failure_);
}

SampleProgram::~SampleProgram() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(stop_, &one, sizeof one);
  if (output_ >= 0) ::close(output_);
  watcher_.join();
  ::close(stop_);
}

void SampleProgram::watch() {
  std::optional<DependentProcess> process;
  std::optional<PipeEnds> errors;
  try {
    PipeEnds output;
    errors.emplace();
    process.emplace(DependentProcess::Options{.program = command_[0],
                                              .words = command_,
                                              .stdout_to = output.ends[1],
                                              .stderr_to = errors->ends[1],
                                              .environment = environment_});
    output_ = output.take_read();
    errors->close_write();
  } catch (...) {
    failure_ = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex_);
    has_started_ = true;
  }
  changed_.notify_all();
  if (failure_ != nullptr) return;

  LineReader lines(errors->ends[0]);
  bool is_wanted = true;
  const auto take_line = [&](const std::string& line) {
    if (!is_wanted) return;  // that its output is closed
    log::info(command_[0] + ": " + printable(line));
    constexpr size_t kMostLines = 10;
    const std::lock_guard lock(mutex_);
    last_lines_.push_back(printable(line));
    if (last_lines_.size() > kMostLines) last_lines_.pop_front();
  };
  std::array<pollfd, 3> waits{pollfd{process->descriptor(), POLLIN, 0}, pollfd{stop_, POLLIN, 0},
                              pollfd{errors->ends[0], POLLIN, 0}};
  std::optional<double> kill_at_s;
  while (!process->has_ended()) {
    ::poll(waits.data(), waits.size(), kill_at_s ? kPollMs : -1);
    if (waits[1].revents != 0) {
      is_wanted = false;
      process->signal_all(SIGTERM);
      kill_at_s = monotonic_s() + kGraceToEndS;
      waits[1].fd = -1;
      waits[1].revents = 0;
    }
    if (waits[2].revents != 0 && !lines.read(take_line)) waits[2].fd = -1;
    if (kill_at_s && monotonic_s() > *kill_at_s) process->signal_all(SIGKILL);
  }
  lines.read(take_line);
  process->signal_all(SIGKILL);  // what it has started
  const int code = process->wait();
  {
    const std::lock_guard lock(mutex_);
    exit_code_ = code;
  }
  changed_.notify_all();
}

size_t SampleProgram::read(void* to, size_t most) {
  constexpr double kLongS = 10;
  bool has_said = false;
  for (const Stopwatch watch;;) {
    if (ReadStop::requested()) throw Stopped();
    if (!has_said && watch.seconds() > kLongS) {
      has_said = true;
      log::info(command_[0] + ": has written nothing for 10 s; waiting");
    }
    pollfd wait{output_, POLLIN, 0};
    const int ready = ::poll(&wait, 1, kPollMs);
    if (ready <= 0) continue;
    const ssize_t got = ::read(output_, to, most);
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EINTR) throw DataError(command_[0], std::strerror(errno));
  }
}

int SampleProgram::exit_code() {
  constexpr std::chrono::seconds kMostWait{10};
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, kMostWait, [this] { return exit_code_ >= 0; })) {
    const uint64_t one = 1;  // it has closed its output, but goes on
    [[maybe_unused]] const ssize_t written = ::write(stop_, &one, sizeof one);
    changed_.wait(lock, [this] { return exit_code_ >= 0; });
    return 0;
  }
  return exit_code_;
}

std::string SampleProgram::last_words() {
  const std::lock_guard lock(mutex_);
  return join(std::vector<std::string>(last_lines_.begin(), last_lines_.end()), " | ");
}

}  // namespace tpack
