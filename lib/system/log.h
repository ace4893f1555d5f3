#pragma once

#include <string>
#include <string_view>

namespace tpack::log {

/// Writes one message line to stderr and, once `to_file` was called, to the run's log file. Threads: any.
void info(const std::string& text);
void warning(const std::string& text);
void error(const std::string& text);
/// Shown with --verbose only.
void debug(const std::string& text);

/// Writes a line to stderr over the one that `redraw` wrote before, for a terminal; the cursor stays on it.
/// The next message begins below it. Allocates nothing. Threads: any.
void redraw(std::string_view line);
/// Moves to the line below a redrawn one, which stays; does nothing if there is none. Threads: any.
void end_redrawn();

enum class Level { kDebug, kInfo, kWarning, kError, kOff };
/// What stderr shows; the log file always has everything from info on. Returns what it showed before.
Level set_level(Level level);
/// Also writes to `path` (appends). Errors: ResourceError if it cannot be opened.
void to_file(const std::string& path);
/// "[rank 1] " in front of every line; empty for none.
void set_prefix(const std::string& prefix);
/// Forgets the log file; lines so far are on disk.
void close_file();

}  // namespace tpack::log
