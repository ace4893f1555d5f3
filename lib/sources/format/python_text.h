#pragma once

#include <string>
#include <string_view>

namespace tpack {

/// The bytes of a quoted string of Python 2, such as 'a\x80\n'. Errors: DataError if it has no quotes, or an
/// invalid escape.
std::string unquoted_python_string(std::string_view quoted);
/// The text, in UTF-8, of ISO 8859-1 with escapes \uXXXX and \UXXXXXXXX, where a pair of surrogates is one
/// character and any other surrogate becomes U+FFFD. Errors: DataError for an invalid escape.
std::string unescaped_python_unicode(std::string_view escaped);

}  // namespace tpack
