#pragma once

#include <string>

namespace tpack {

/// The report of an exception.
struct Failure {
  int exit_code = 1;
  std::string text;  // one line per problem
};
/// Describes the current exception: tpack's own errors carry their exit code, everything else is an internal
/// error. For use in a catch block.
Failure current_failure();

}  // namespace tpack
