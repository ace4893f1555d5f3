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
#include "system/process.h"

namespace tpack {
namespace {

/// Setup of the child before it becomes the program.
struct Becoming {
  const char* program = nullptr;
  std::vector<char*> arguments;
  std::vector<char*> environment;
  int out = -1;  // -1: as before
  int err = -1;
  cpu_set_t processors = {};
  bool is_bound = false;
  pid_t parent = 0;

  /// Only system calls, because other threads of the parent may have held locks. Called with all signals
  /// blocked: one that comes before the program has its own handlers must not be lost to those of the parent.
  [[noreturn]] void become() {
    setpgid(0, 0);
    for (int number = 1; number < SIGRTMIN; ++number) {
      struct sigaction action = {};
      if (sigaction(number, nullptr, &action) != 0) continue;
      if (action.sa_handler == SIG_IGN && number != SIGPIPE) continue;  // SIGPIPE: ignored by this program
      action = {};
      sigaction(number, &action, nullptr);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(128 + SIGTERM);                       // it died before it was watched
    if (is_bound) sched_setaffinity(0, sizeof processors, &processors);  // without it, it only shares
    if (out >= 0 || err >= 0) dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    if (out >= 0) dup2(out, STDOUT_FILENO);
    if (err >= 0) dup2(err, STDERR_FILENO);
    execvpe(program, arguments.data(), environment.data());
    _exit(errno == ENOENT ? DependentProcess::kNotFound : DependentProcess::kNotStarted);
  }
};

}  // namespace

DependentProcess::DependentProcess(const Options& options) {
  Becoming child;
  child.program = options.program.c_str();
  for (const std::string& word : options.words) child.arguments.push_back(const_cast<char*>(word.c_str()));
  child.arguments.push_back(nullptr);
  std::vector<std::string> variables = environment_with(options.environment);
  for (std::string& variable : variables) child.environment.push_back(variable.data());
  child.environment.push_back(nullptr);
  CPU_ZERO(&child.processors);
  for (const int processor : options.processors) CPU_SET(static_cast<size_t>(processor), &child.processors);
  child.is_bound = !options.processors.empty();
  child.parent = getpid();
  int file = -1;
  if (!options.output.empty()) {
    file = open(options.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0) throw ResourceError(options.output + ": cannot be written: " + std::strerror(errno));
  }
  child.out = options.stdout_to >= 0 ? options.stdout_to : file;
  child.err = options.stderr_to >= 0 ? options.stderr_to : file;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_ = fork();
  if (pid_ == 0) child.become();
  const int failure = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid_ > 0) setpgid(pid_, pid_);  // so that there is a group to signal from now on
  if (file >= 0) close(file);
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
  if (pid_ > 0) kill(pid_, number);
}

void DependentProcess::signal_all(int number) const {
  if (pid_ > 0) kill(-pid_, number);
}

int DependentProcess::wait() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
  pid_ = -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace tpack
