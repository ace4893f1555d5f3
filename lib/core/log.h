#pragma once

#include <string>

namespace tpack::log {

/// Writes one message line to stderr and, once `to_file` was called, to the run's log file. Threads: any.
void info(const std::string& text);
void warning(const std::string& text);
void error(const std::string& text);
/// Shown with --verbose only.
void debug(const std::string& text);

enum class Level { kDebug, kInfo, kWarning, kError, kOff };
/// What stderr shows; the log file always has everything from info on.
void set_level(Level level);
/// Also writes to `path` (appends). Errors: ResourceError where it cannot be opened.
void to_file(const std::string& path);
/// "[rank 1] " in front of every line; empty for none.
void set_prefix(const std::string& prefix);
/// Forgets the log file; lines so far are on disk.
void close_file();

}  // namespace tpack::log
