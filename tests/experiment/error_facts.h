#pragma once

#include <string>

namespace tpack {

/// Reduces an error text to its facts, so that a test need not repeat the wording. Each line of the result
/// describes one line of the text:
///
///     PLACE: KIND; QUOTED WORDS; NAMES AND NUMBERS; FOUND; SUGGESTIONS
///
/// The kind is the first of a few words such as "unknown" or "is missing". Quoted words and names keep their
/// order. FOUND is "found the string 'x'" or the like; suggestions are "did you mean 'x'", "known: a, b" and
/// "must be one of a, b". Empty parts are left out.
std::string error_facts(const std::string& text);

}  // namespace tpack
