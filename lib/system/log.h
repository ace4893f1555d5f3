#pragma once

#include <string>
#include <string_view>

namespace tpack::log {

/// Writes one message line to stderr and, after a call of `to_file`, to the run's log file. Threads: any.
void info(const std::string& text);
void warning(const std::string& text);
void error(const std::string& text);
/// Shown only with --verbose.
void debug(const std::string& text);

/// Overwrites the line of the last `redraw` on stderr, for a terminal; the cursor stays on it. The next
/// message begins below it. Allocates nothing. Threads: any.
void redraw(std::string_view line);
/// Moves to the line below a redrawn one, which stays; does nothing if there is none. Threads: any.
void end_redrawn();

enum class Level { kDebug, kInfo, kWarning, kError, kOff };
/// The level of stderr; the log file always gets info and above. Returns the earlier level.
Level set_level(Level level);
/// Also writes to `path` (appends). Errors: ResourceError if it cannot be opened.
void to_file(const std::string& path);
/// A prefix of every line, such as "[rank 1] "; empty for none.
void set_prefix(const std::string& prefix);
/// Closes the log file; lines so far are on disk.
void close_file();

}  // namespace tpack::log
