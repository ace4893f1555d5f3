#pragma once

#include <optional>
#include <string>

namespace tpack {

// Regular expressions in the syntax of RE2, which is that of Perl and ECMAScript without look-around and
// references to groups. Time is linear in the name, memory is bounded. `.` is a character of UTF-8. Threads:
// any. Errors: ConfigError for a pattern that is not a regular expression, is too large, or needs what RE2
// lacks.

/// True if `pattern` matches all of `name`.
bool full_match(const std::string& name, const std::string& pattern);
/// True if `pattern` matches a part of `name`.
bool partial_match(const std::string& name, const std::string& pattern);
/// `replacement` with $1, ..., $99 replaced by groups, $& by the name and $$ by $, if `pattern` matches the
/// whole name; else nothing. Errors: also for a group that the pattern does not have.
std::optional<std::string> match_and_replace(const std::string& name, const std::string& pattern,
                                             const std::string& replacement);

}  // namespace tpack
