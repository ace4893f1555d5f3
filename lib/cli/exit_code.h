#pragma once

#include <functional>

#include "core/failure.h"

namespace tpack {

/// Writes "error: ..." for each line of it to stderr, and to the log file if there is one.
void report(const Failure& failure);
/// Writes it only to the log file: another process reports it.
void log_failure(const Failure& failure);

/// Runs a command and returns its exit code; reports exceptions.
int guarded(const std::function<int()>& command);

}  // namespace tpack
