#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tpack {

/// The offset of the first byte that is not valid UTF-8; nothing if all are valid. A NUL is a character.
std::optional<size_t> first_invalid_utf8(std::string_view text);

/// The bytes as one line of UTF-8 text: invalid bytes and control characters are written as \xE9, \n or
/// \u202E (those that change the direction of text). For names that may be any bytes (files, columns,
/// classes, arrays, entries of checkpoints) where text is needed: a terminal takes some of these characters
/// as commands.
std::string printable(std::string_view bytes);
/// The bytes as UTF-8 text, with invalid bytes written as \xE9: for names in JSON and HDF5, and for classes.
std::string valid_utf8(std::string_view bytes);
/// As printable, for a text of several lines for people: line ends and tabs stay.
std::string printable_lines(std::string_view text);

/// ISO 8859-1 text as UTF-8.
std::string utf8_of_latin1(std::string_view text);

/// Text with each accented letter as one character (NFC of Unicode), or as a letter and its accent (NFD):
/// macOS returns file names in the second form, but people type the first one. Text that is not UTF-8 is not
/// changed.
std::string composed(const std::string& text);
std::string decomposed(const std::string& text);

/// The text without the byte order mark that some programs write.
std::string_view without_byte_order_mark(std::string_view text);

}  // namespace tpack
