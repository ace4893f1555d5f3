#pragma once

#include <array>
#include <pty.h>
#include <stdexcept>
#include <string>
#include <unistd.h>

#include "system/log.h"

namespace tpack {

/// Makes stderr a terminal of a given width; `text` restores stderr and returns what was written.
class TerminalStderr {
 public:
  explicit TerminalStderr(unsigned short columns) : saved_(dup(STDERR_FILENO)) {
    log::set_level(log::Level::kInfo);  // it chooses colors when it is first used: not those of this terminal
    winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    int terminal = -1;
    if (openpty(&controller_, &terminal, nullptr, nullptr, &size) != 0) throw std::runtime_error("openpty");
    dup2(terminal, STDERR_FILENO);
    close(terminal);
  }
  std::string text() {
    dup2(saved_, STDERR_FILENO);
    std::string all;
    std::array<char, 4096> part{};
    while (true) {
      const ssize_t n = read(controller_, part.data(), part.size());
      if (n <= 0) break;
      all.append(part.data(), static_cast<size_t>(n));
    }
    close(controller_);
    close(saved_);
    return all;
  }

 private:
  int saved_;
  int controller_ = -1;
};

}  // namespace tpack
