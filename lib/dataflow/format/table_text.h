#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/field.h"
#include "dataflow/format/unpacked_file.h"

namespace tpack {

enum class TextEncoding : uint8_t { kUtf8, kLatin1, kUtf16 };

template <>
struct EnumNames<TextEncoding> {
  static constexpr std::array<std::pair<const char*, TextEncoding>, 3> kNames = {
      {{"utf-8", TextEncoding::kUtf8}, {"latin1", TextEncoding::kLatin1}, {"utf-16", TextEncoding::kUtf16}}};
};

/// The text of a file as UTF-8, piece by piece; the whole file as it is mapped, if it is UTF-8 that is not
/// packed. A byte order mark of UTF-16 is left out. Threads: one at a time.
class TableText {
 public:
  /// Errors: DataError with path and cause.
  TableText(const std::string& path, TextEncoding encoding);

  /// The next piece, valid until the next call; empty at the end. Errors: DataError with path and line for
  /// bytes that belong to no character, and with path if the file is damaged.
  std::string_view next();

 private:
  std::string_view next_utf8();
  std::string_view next_latin1();
  std::string_view next_utf16();
  void begin_utf16(std::string_view bytes);
  [[noreturn]] void reject(std::string_view text, size_t bad) const;

  std::string path_;
  TextEncoding encoding_;
  UnpackedFile file_;
  bool has_begun_ = false;
  bool has_ended_ = false;
  bool is_big_endian_ = false;  // of UTF-16
  int64_t line_ = 1;            // in which the next piece begins; of a file in pieces
  std::string held_;            // the first bytes of a character whose others are in the next piece
  std::string text_;
};

}  // namespace tpack
