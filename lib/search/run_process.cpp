#include "search/run_process.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/error.h"

namespace tpack {
namespace {

/// What the child does before it becomes the program: system calls only, since other threads of the parent
/// may have held locks.
[[noreturn]] void become(char* const* arguments, int output, const cpu_set_t& processors, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(128 + SIGTERM);         // it died before it was watched
  sched_setaffinity(0, sizeof processors, &processors);  // without it, it only shares
  const int no_input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(no_input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execv("/proc/self/exe", arguments);
  constexpr int kNotStarted = 127;
  _exit(kNotStarted);
}

}  // namespace

RunProcess::RunProcess(const std::vector<std::string>& words, const std::string& output,
                       const std::vector<int>& processors) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors) CPU_SET(static_cast<size_t>(processor), &set);
  const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) throw ResourceError(output + ": cannot be written: " + std::strerror(errno));
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) become(arguments.data(), file, set, parent);
  const int failure = errno;
  close(file);
  if (pid_ < 0) throw ResourceError(std::string("a process cannot be started: ") + std::strerror(failure));
  // The function of glibc 2.36 is declared without extern "C".
  descriptor_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  if (descriptor_ >= 0) return;
  const std::string why = std::strerror(errno);
  kill(pid_, SIGKILL);
  wait();
  throw ResourceError("a process cannot be watched: " + why);
}

RunProcess::~RunProcess() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    wait();
  }
  if (descriptor_ >= 0) close(descriptor_);
}

void RunProcess::terminate() const {
  if (pid_ > 0) kill(pid_, SIGTERM);
}

int RunProcess::wait() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
  pid_ = -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace tpack
