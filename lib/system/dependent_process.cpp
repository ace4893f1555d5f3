#include "system/dependent_process.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/error.h"

namespace tpack {
namespace {

// To the process between us and a program that may be left. Of several that wait, it gets the lower one
// first.
constexpr int kLeave = SIGUSR1;
constexpr int kParentEnded = SIGUSR2;

int code_of(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

/// What the child needs before it becomes the program.
struct Becoming {
  const char* program = nullptr;
  std::vector<char*> arguments;
  int output = -1;  // -1: as before
  cpu_set_t processors = {};
  bool is_bound = false;
  bool may_be_left = false;
  pid_t parent = 0;

  /// System calls only, since other threads of the parent may have held locks.
  [[noreturn]] void become() {
    setpgid(0, 0);
    if (may_be_left) stand_between();
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    // The process between ends before the program only if it is killed. `wait` then gives 128 + SIGKILL, so
    // the program must have ended, too.
    prctl(PR_SET_PDEATHSIG, may_be_left ? SIGKILL : SIGTERM);
    if (getppid() != parent) _exit(128 + SIGTERM);                       // it died before it was watched
    if (is_bound) sched_setaffinity(0, sizeof processors, &processors);  // without it, it only shares
    if (output >= 0) {
      dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
      dup2(output, STDOUT_FILENO);
      dup2(output, STDERR_FILENO);
    }
    execvp(program, arguments.data());
    _exit(errno == ENOENT ? DependentProcess::kNotFound : DependentProcess::kNotStarted);
  }

 private:
  /// The signal of a parent's end cannot be taken back once it was asked for. So this process gets it, and
  /// passes it on unless the program was left. Returns in a child of its own, in the same process group.
  void stand_between() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    prctl(PR_SET_PDEATHSIG, kParentEnded);
    if (getppid() != parent) _exit(128 + SIGTERM);
    parent = getpid();
    const pid_t child = _Fork();
    if (child == 0) return;
    if (child < 0) _exit(DependentProcess::kNotStarted);
    bool is_left = false;
    while (true) {
      int status = 0;
      if (waitpid(child, &status, WNOHANG) == child) _exit(code_of(status));
      const int signal = sigwaitinfo(&all, nullptr);
      if (signal == kLeave) is_left = true;
      if (signal == kParentEnded && !is_left) kill(child, SIGTERM);
    }
  }
};

}  // namespace

DependentProcess::DependentProcess(const Options& options) : may_be_left_(options.may_be_left) {
  Becoming child;
  child.program = options.program.c_str();
  for (const std::string& word : options.words) child.arguments.push_back(const_cast<char*>(word.c_str()));
  child.arguments.push_back(nullptr);
  CPU_ZERO(&child.processors);
  for (const int processor : options.processors) CPU_SET(static_cast<size_t>(processor), &child.processors);
  child.may_be_left = may_be_left_;
  child.is_bound = !options.processors.empty();
  child.parent = getpid();
  if (!options.output.empty()) {
    child.output = open(options.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (child.output < 0)
      throw ResourceError(options.output + ": cannot be written: " + std::strerror(errno));
  }
  pid_ = fork();
  if (pid_ == 0) child.become();
  const int failure = errno;
  if (pid_ > 0) setpgid(pid_, pid_);  // so that there is a group to signal from now on
  if (child.output >= 0) close(child.output);
  if (pid_ < 0) throw ResourceError("cannot start '" + options.program + "': " + std::strerror(failure));
  // The function of glibc 2.36 is declared without extern "C".
  descriptor_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  if (descriptor_ >= 0) return;
  const std::string why = std::strerror(errno);
  signal(SIGKILL);
  wait();
  throw ResourceError("cannot watch '" + options.program + "': " + why);
}

DependentProcess::~DependentProcess() {
  if (pid_ > 0) {
    signal(SIGKILL);
    wait();
  }
  if (descriptor_ >= 0) close(descriptor_);
}

bool DependentProcess::has_ended() const {
  pollfd end = {descriptor_, POLLIN, 0};
  return pid_ < 0 || poll(&end, 1, 0) > 0;
}

void DependentProcess::signal(int number) const {
  if (pid_ > 0) kill(may_be_left_ ? -pid_ : pid_, number);  // who stands between ignores what can be ignored
}

void DependentProcess::leave() {
  TPACK_ASSERT(may_be_left_, "a process is left that cannot be");
  if (pid_ > 0) kill(pid_, kLeave);
  pid_ = -1;
}

int DependentProcess::wait() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
  pid_ = -1;
  return code_of(status);
}

}  // namespace tpack
