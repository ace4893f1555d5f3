#pragma once

#include <functional>
#include <string>

namespace tpack {

/// What to tell of the exception that is being handled.
struct Failure {
  int exit_code = 1;
  std::string text;  // one line a problem
};
/// Describes the exception that is being handled; errors of ours carry their code, everything else is an
/// internal error. For use in a catch block.
Failure current_failure();
/// Writes "error: ..." for each line of it to stderr, and to the log file where there is one.
void report(const Failure& failure);

/// Runs a command and returns its exit code; what it throws is reported.
int guarded(const std::function<int()>& command);

}  // namespace tpack
