#include "cli/exit_code.h"

#include <cstdio>

#include "core/log.h"
#include "core/text.h"

namespace tpack {

void report(const Failure& failure) {
  std::fflush(stdout);
  log::set_level(log::Level::kOff);  // stderr gets plain lines that scripts can read
  for (const std::string& line : split(failure.text, '\n')) {
    if (line.empty()) continue;  // what others throw may end with a line feed
    log::error(line);
    std::fprintf(stderr, "error: %s\n", line.c_str());
  }
  std::fflush(stderr);
}

int guarded(const std::function<int()>& command) {
  try {
    return command();
  } catch (...) {
    const Failure failure = current_failure();
    report(failure);
    return failure.exit_code;
  }
}

}  // namespace tpack
