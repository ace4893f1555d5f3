#pragma once

#include <functional>

#include "core/failure.h"

namespace tpack {

/// Writes "error: ..." for each line of it to stderr, and to the log file if there is one.
void report(const Failure& failure);
/// Writes it to the log file alone: somebody else reports it.
void log_failure(const Failure& failure);

/// Runs a command and returns its exit code; what it throws is reported.
int guarded(const std::function<int()>& command);

}  // namespace tpack
