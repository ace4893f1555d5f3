#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/field.h"
#include "table/unpacked_file.h"

namespace tpack {

enum class TextEncoding : uint8_t { kUtf8, kLatin1, kUtf16 };

template <>
struct EnumNames<TextEncoding> {
  static constexpr std::array<std::pair<const char*, TextEncoding>, 3> kNames = {
      {{"utf-8", TextEncoding::kUtf8}, {"latin1", TextEncoding::kLatin1}, {"utf-16", TextEncoding::kUtf16}}};
};

/// Some lines of a text: a part of the mapped file, or a copy. A value.
class TextPiece {
 public:
  /// From a file that stays mapped while the piece is used.
  static TextPiece mapped(std::string_view text) { return {text, {}}; }
  static TextPiece copied(std::string text) { return {{}, std::move(text)}; }

  std::string_view text() const { return std::string_view(own_.empty() ? mapped_ : own_).substr(begin_); }
  /// Drops `bytes` bytes at the beginning.
  void remove_prefix(size_t bytes) { begin_ += bytes; }

 private:
  TextPiece(std::string_view mapped, std::string own) : mapped_(mapped), own_(std::move(own)) {}

  std::string_view mapped_;
  std::string own_;
  size_t begin_ = 0;
};

/// The text of a file as UTF-8, in pieces of about a megabyte that end with a line. Byte order marks are
/// removed. Threads: one at a time; pieces may go to others.
class TableText {
 public:
  /// `wanted` is the expected kind of file, with its article: "a CSV file". Errors: DataError with path and
  /// cause.
  TableText(const std::string& path, TextEncoding encoding, std::string wanted);

  /// The next piece; nothing at the end. Errors: DataError with path and line for invalid characters, except
  /// in UTF-8, which `require_utf8` checks; with path if the file is damaged.
  std::optional<TextPiece> next();

 private:
  TextPiece next_mapped();
  std::string more();
  std::string utf8_of_utf16(std::string_view piece, bool is_first);
  void begin_utf16(std::string_view bytes);
  void require_begin(std::string_view bytes) const;

  std::string path_;
  TextEncoding encoding_;
  std::string wanted_;
  UnpackedFile file_;
  std::string_view mapped_;  // the rest of a file that is UTF-8 and not compressed
  bool has_begun_ = false;
  bool has_ended_ = false;
  bool is_big_endian_ = false;  // of UTF-16
  int64_t line_ = 1;            // line where the next piece begins, for UTF-16
  std::string half_;            // the first bytes of an incomplete UTF-16 character
  std::string open_;            // the beginning of an incomplete line
};

/// Counts a character in a text. Finds occurrences one by one, which is fast for rare characters.
int64_t count_of(char c, std::string_view text);

/// `first_line`: line of the text in the file. Errors: DataError with path and line for invalid UTF-8.
void require_utf8(std::string_view text, const std::string& path, int64_t first_line);

}  // namespace tpack
