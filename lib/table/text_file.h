#pragma once

#include <string>
#include <string_view>

namespace tpack {

/// The content of a text file without its byte order mark. Errors: DataError if it is UTF-16, or not text;
/// `wanted` is the expected kind of file, with its article: "a CSV file".
std::string_view require_text(std::string_view content, const std::string& path, std::string_view wanted);

}  // namespace tpack
