#include "cli/exit_code.h"

#include <cstdio>

#include "core/text.h"
#include "core/text_encoding.h"
#include "system/log.h"

namespace tpack {

namespace {

/// Texts of other exceptions may end with a line feed.
std::vector<std::string> lines_of(const Failure& failure) {
  std::vector<std::string> lines = split(printable_lines(failure.text), '\n');
  std::erase(lines, "");
  return lines;
}

}  // namespace

void report(const Failure& failure) {
  log_failure(failure);
  for (const std::string& line : lines_of(failure)) std::fprintf(stderr, "error: %s\n", line.c_str());
  std::fflush(stderr);
}

void log_failure(const Failure& failure) {
  std::fflush(stdout);
  log::set_level(log::Level::kOff);  // stderr gets plain lines that scripts can read
  for (const std::string& line : lines_of(failure)) log::error(line);
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
