#include "table/text_file.h"

#include "core/error.h"
#include "core/text_encoding.h"
#include "system/file_kind.h"

namespace tpack {

std::string_view require_text(std::string_view content, const std::string& path, std::string_view wanted) {
  if (content.starts_with("\xFF\xFE") || content.starts_with("\xFE\xFF"))
    throw DataError(path, "is text in UTF-16; save it as UTF-8");
  if (const FileKind kind = kind_of_content(content); !content.empty() && kind.is_no_text())
    throw DataError(path, "is " + kind.rejected_as(wanted));
  constexpr size_t kLooksAt = 4096;
  const size_t zero = content.substr(0, kLooksAt).find('\0');
  if (zero != std::string_view::npos)
    throw DataError(path, "is not text: byte " + std::to_string(zero + 1) + " is zero");
  return without_byte_order_mark(content);
}

}  // namespace tpack
