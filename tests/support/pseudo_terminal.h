#pragma once

#include <csignal>
#include <pty.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace tpack {

/// A program in a terminal of its own, whose keys are written and whose output is read.
class PseudoTerminal {
 public:
  PseudoTerminal(const std::vector<std::string>& words, unsigned short columns, unsigned short rows) {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const winsize size = {rows, columns, 0, 0};
    pid_ = forkpty(&terminal_, nullptr, nullptr, &size);
    if (pid_ != 0) return;
    setenv("TERM", "xterm", 1);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  ~PseudoTerminal() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(terminal_);
  }
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;

  /// Reads until the output has this text; false at its end. Earlier output counts only once.
  bool wait_for(const std::string& text) {
    for (size_t found = seen_.find(text); true; found = seen_.find(text)) {
      if (found != std::string::npos) {
        seen_.erase(0, found + text.size());
        return true;
      }
      char part[4096];
      const ssize_t bytes = read(terminal_, part, sizeof part);
      if (bytes <= 0) return false;
      seen_.append(part, static_cast<size_t>(bytes));
    }
  }
  void press(const std::string& keys) const {
    [[maybe_unused]] const ssize_t written = write(terminal_, keys.data(), keys.size());
  }
  void resize(unsigned short columns, unsigned short rows) const {
    const winsize size = {rows, columns, 0, 0};
    ioctl(terminal_, TIOCSWINSZ, &size);
  }
  /// Reads the rest, then the exit code; 128 + n if signal n ended it.
  int wait() {
    wait_for("\x01never");
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  pid_t pid_ = -1;
  int terminal_ = -1;
  std::string seen_;
};

}  // namespace tpack
