#include "table/table_text.h"

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "table/text_file.h"

namespace tpack {
namespace {

constexpr size_t kPieceOfText = size_t{1} << 20U;

unsigned char byte_at(std::string_view bytes, size_t at) { return static_cast<unsigned char>(bytes[at]); }

bool has_utf16_mark(std::string_view bytes) {
  return bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF");
}

void append_utf8(uint32_t character, std::string& out) {
  const auto put = [&](uint32_t byte) { out += static_cast<char>(byte); };
  const auto follow = [&](uint32_t shift) { put(0x80U | ((character >> shift) & 0x3FU)); };
  if (character < 0x80) {
    put(character);
  } else if (character < 0x800) {
    put(0xC0U | character >> 6U);
    follow(0);
  } else if (character < 0x10000) {
    put(0xE0U | character >> 12U);
    follow(6);
    follow(0);
  } else {
    put(0xF0U | character >> 18U);
    follow(12);
    follow(6);
    follow(0);
  }
}

}  // namespace

TableText::TableText(const std::string& path, TextEncoding encoding, std::string wanted)
    : path_(path), encoding_(encoding), wanted_(std::move(wanted)), file_(path) {
  if (encoding != TextEncoding::kUtf8 || file_.is_packed()) return;
  const std::string_view all = file_.next(std::numeric_limits<size_t>::max());
  require_begin(all);
  mapped_ = require_text(all, path_, wanted_);
}

void TableText::require_begin(std::string_view bytes) const {
  if (has_utf16_mark(bytes))
    throw DataError(path_, "is text in UTF-16; save it as UTF-8, or set encoding: utf-16");
}

std::optional<TextPiece> TableText::next() {
  if (!mapped_.empty()) return next_mapped();
  while (!has_ended_) {
    std::string text = std::exchange(open_, {});
    const size_t known = text.size();
    text += more();
    const size_t last = has_ended_ ? std::string::npos : text.find_last_of('\n');
    if (last == std::string::npos || last < known) {  // no line ends in the new part
      constexpr size_t kMaxLine = size_t{1} << 26U;
      if (!has_ended_ && text.size() > kMaxLine) throw DataError(path_, "has a line of more than 64 MB");
      if (has_ended_ && !text.empty()) return TextPiece::copied(std::move(text));
      open_ = std::move(text);
      continue;
    }
    open_ = text.substr(last + 1);
    text.resize(last + 1);
    if (encoding_ == TextEncoding::kUtf16) line_ += count_of('\n', text);
    return TextPiece::copied(std::move(text));
  }
  return std::nullopt;
}

TextPiece TableText::next_mapped() {
  const size_t end = mapped_.find('\n', std::min(kPieceOfText, mapped_.size()) - 1);
  const std::string_view text = mapped_.substr(0, end == std::string_view::npos ? end : end + 1);
  mapped_.remove_prefix(text.size());
  return TextPiece::mapped(text);
}

/// The next text, as UTF-8; empty at the end.
std::string TableText::more() {
  std::string text;
  while (text.empty() && !has_ended_) {
    const std::string_view bytes = file_.next(kPieceOfText);
    has_ended_ = bytes.empty();
    const bool is_first = !std::exchange(has_begun_, true);
    if (encoding_ == TextEncoding::kUtf16) {
      if (is_first) begin_utf16(bytes);
      text = utf8_of_utf16(bytes, is_first);
    } else {
      if (is_first) require_begin(bytes);
      text = encoding_ == TextEncoding::kLatin1 ? utf8_of_latin1(bytes) : std::string(bytes);
    }
    if (is_first) text = std::string(require_text(text, path_, wanted_));
  }
  return text;
}

void TableText::begin_utf16(std::string_view bytes) {
  const bool has_mark = has_utf16_mark(bytes);
  is_big_endian_ = bytes.size() >= 2 && (has_mark ? bytes[0] == '\xFE' : bytes[0] == '\0');
  // Without a mark, the first character is ASCII, as in every table.
  if (!has_mark && bytes.size() >= 2 && bytes[is_big_endian_ ? 0 : 1] != '\0')
    throw DataError(path_, "is not text in UTF-16; set encoding: utf-8 (or latin1)");
}

std::string TableText::utf8_of_utf16(std::string_view piece, bool is_first) {
  const std::string bytes = std::exchange(half_, {}).append(piece);
  const auto unit = [&](size_t at) {
    return static_cast<uint32_t>(byte_at(bytes, at + (is_big_endian_ ? 0 : 1)) << 8U |
                                 byte_at(bytes, at + (is_big_endian_ ? 1 : 0)));
  };
  std::string text;
  size_t at = is_first && has_utf16_mark(bytes) ? 2 : 0;
  while (at + 2 <= bytes.size()) {
    uint32_t character = unit(at);
    const bool is_pair = character >= 0xD800 && character < 0xDC00;
    if (is_pair && at + 4 > bytes.size()) break;
    const uint32_t second = is_pair ? unit(at + 2) : 0;
    const bool is_bad =
        is_pair ? second < 0xDC00 || second > 0xDFFF : character >= 0xDC00 && character <= 0xDFFF;
    if (is_bad) {
      const auto line = line_ + count_of('\n', text);
      throw DataError(path_ + ":" + std::to_string(line), "is not UTF-16: unpaired surrogate");
    }
    if (is_pair) character = 0x10000U + ((character - 0xD800U) << 10U) + (second - 0xDC00U);
    append_utf8(character, text);
    at += is_pair ? 4 : 2;
  }
  half_ = bytes.substr(at);
  if (has_ended_ && !half_.empty()) throw DataError(path_, "is cut off: its last character is incomplete");
  return text;
}

int64_t count_of(char c, std::string_view text) {
  int64_t count = 0;
  for (size_t at = text.find(c); at != std::string_view::npos; at = text.find(c, at + 1)) ++count;
  return count;
}

void require_utf8(std::string_view text, const std::string& path, int64_t first_line) {
  const auto bad = first_invalid_utf8(text);
  if (!bad) return;
  const auto line = first_line + count_of('\n', text.substr(0, *bad));
  const size_t begin = text.rfind('\n', *bad) + 1;
  throw DataError(path + ":" + std::to_string(line),
                  "is not UTF-8 ('" + printable(text.substr(begin, *bad - begin + 1)) +
                      "'); save the file as UTF-8, or set encoding: latin1");
}

}  // namespace tpack
