#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/field.h"
#include "dataflow/format/mapped_file.h"

namespace tpack {

enum class TextEncoding : uint8_t { kUtf8, kLatin1 };

template <>
struct EnumNames<TextEncoding> {
  static constexpr std::array<std::pair<const char*, TextEncoding>, 2> kNames = {
      {{"utf-8", TextEncoding::kUtf8}, {"latin1", TextEncoding::kLatin1}}};
};

/// The text of a file as UTF-8, while the object lives. A value that is not copied.
class CsvFile {
 public:
  /// Errors: DataError with path and line for text in another encoding.
  CsvFile(const std::string& path, TextEncoding encoding);
  CsvFile(const CsvFile&) = delete;
  CsvFile& operator=(const CsvFile&) = delete;

  std::string_view text() const { return text_; }

 private:
  MappedFile file_;
  std::string converted_;
  std::string_view text_;
};

}  // namespace tpack
