#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tpack {

/// The place of the first byte that belongs to no character of UTF-8; nothing if all do. A NUL is a
/// character.
std::optional<size_t> first_invalid_utf8(std::string_view text);

/// The bytes as UTF-8 text: those that belong to no character are written as \xE9. For names of files, which
/// may be any bytes, where text is needed (JSON, messages, names of classes).
std::string printable(std::string_view bytes);

/// ISO 8859-1 text as UTF-8.
std::string utf8_of_latin1(std::string_view text);

/// Text whose accented letters are one character each (NFC of Unicode), or a letter and its accent (NFD):
/// macOS gives names of files in the second form, and people write the first one. Text that is not UTF-8
/// stays as it is.
std::string composed(const std::string& text);
std::string decomposed(const std::string& text);

/// Without the byte order mark that some programs put before UTF-8 text.
std::string_view without_byte_order_mark(std::string_view text);

}  // namespace tpack
