#include "dataflow/format/csv_file.h"

#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "core/text_encoding.h"

namespace tpack {
namespace {

void require_utf8(std::string_view text, const std::string& path) {
  const auto bad = first_invalid_utf8(text);
  if (!bad || text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    return;  // the reader knows UTF-16
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(*bad), '\n');
  const size_t begin = text.rfind('\n', *bad) + 1;
  throw DataError(path + ":" + std::to_string(line),
                  "is not UTF-8 ('" + printable(text.substr(begin, *bad - begin + 1)) +
                      "'); save the file as UTF-8, or set encoding: latin1");
}

}  // namespace

CsvFile::CsvFile(const std::string& path, TextEncoding encoding) : file_(path) {
  const auto bytes = file_.bytes();
  text_ = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  if (encoding == TextEncoding::kLatin1)
    text_ = converted_ = utf8_of_latin1(text_);
  else
    require_utf8(text_, path);
}

}  // namespace tpack
