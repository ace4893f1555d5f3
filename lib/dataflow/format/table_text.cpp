#include "dataflow/format/table_text.h"

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "core/text.h"
#include "core/text_encoding.h"

namespace tpack {
namespace {

constexpr size_t kPieceOfText = size_t{1} << 20U;

unsigned char byte_at(std::string_view bytes, size_t at) { return static_cast<unsigned char>(bytes[at]); }

bool has_utf16_mark(std::string_view bytes) {
  return bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF");
}

/// Bytes at the end that begin a character of UTF-8 without ending it.
size_t cut_bytes(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    const unsigned char byte = byte_at(text, text.size() - back);
    if (byte < 0x80) return 0;
    if (byte < 0xC0) continue;  // not the first byte of its character
    const size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    return length > back ? back : 0;
  }
  return 0;
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

TableText::TableText(const std::string& path, TextEncoding encoding)
    : path_(path), encoding_(encoding), file_(path) {}

std::string_view TableText::next() {
  std::string_view text;
  while (text.empty() && !has_ended_) {
    text = encoding_ == TextEncoding::kLatin1  ? next_latin1()
           : encoding_ == TextEncoding::kUtf16 ? next_utf16()
                                               : next_utf8();
    has_begun_ = true;
  }
  const bool is_in_pieces = file_.is_packed() || encoding_ != TextEncoding::kUtf8;
  if (is_in_pieces) line_ += std::count(text.begin(), text.end(), '\n');
  return text;
}

void TableText::reject(std::string_view text, size_t bad) const {
  const auto line = line_ + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(bad), '\n');
  const size_t begin = text.rfind('\n', bad) + 1;
  throw DataError(path_ + ":" + std::to_string(line),
                  "is not UTF-8 ('" + printable(text.substr(begin, bad - begin + 1)) +
                      "'); save the file as UTF-8, or set encoding: latin1");
}

std::string_view TableText::next_utf8() {
  std::string_view bytes = file_.next(std::numeric_limits<size_t>::max());
  has_ended_ = bytes.empty();
  if (!has_begun_ && has_utf16_mark(bytes))
    throw DataError(path_, "is text in UTF-16; save it as UTF-8, or set encoding: utf-16");
  if (file_.is_packed()) {
    text_ = std::exchange(held_, {}).append(bytes);
    const size_t cut = has_ended_ ? 0 : cut_bytes(text_);
    held_ = text_.substr(text_.size() - cut);
    text_.resize(text_.size() - cut);
    bytes = text_;
  }
  if (const auto bad = first_invalid_utf8(bytes)) reject(bytes, *bad);
  return bytes;
}

std::string_view TableText::next_latin1() {
  text_ = utf8_of_latin1(file_.next(kPieceOfText));
  has_ended_ = text_.empty();
  return text_;
}

void TableText::begin_utf16(std::string_view bytes) {
  const bool has_mark = has_utf16_mark(bytes);
  is_big_endian_ = bytes.size() >= 2 && (has_mark ? bytes[0] == '\xFE' : bytes[0] == '\0');
  // Without a mark, the first character is one of ASCII, which every table begins with.
  if (!has_mark && bytes.size() >= 2 && bytes[is_big_endian_ ? 0 : 1] != '\0')
    throw DataError(path_, "is not text in UTF-16; set encoding: utf-8 (or latin1)");
}

std::string_view TableText::next_utf16() {
  const std::string_view piece = file_.next(kPieceOfText);
  has_ended_ = piece.empty();
  if (!has_begun_) begin_utf16(piece);
  const std::string bytes = std::exchange(held_, {}).append(piece);
  const auto unit = [&](size_t at) {
    return static_cast<uint32_t>(byte_at(bytes, at + (is_big_endian_ ? 0 : 1)) << 8U |
                                 byte_at(bytes, at + (is_big_endian_ ? 1 : 0)));
  };
  text_.clear();
  size_t at = !has_begun_ && has_utf16_mark(bytes) ? 2 : 0;
  while (at + 2 <= bytes.size()) {
    uint32_t character = unit(at);
    const bool is_pair = character >= 0xD800 && character < 0xDC00;
    if (is_pair && at + 4 > bytes.size()) break;
    const uint32_t second = is_pair ? unit(at + 2) : 0;
    const bool is_bad =
        is_pair ? second < 0xDC00 || second > 0xDFFF : character >= 0xDC00 && character <= 0xDFFF;
    if (is_bad) {
      const auto line = line_ + std::count(text_.begin(), text_.end(), '\n');
      throw DataError(path_ + ":" + std::to_string(line), "is not UTF-16: half of a character stands alone");
    }
    if (is_pair) character = 0x10000U + ((character - 0xD800U) << 10U) + (second - 0xDC00U);
    append_utf8(character, text_);
    at += is_pair ? 4 : 2;
  }
  held_ = bytes.substr(at);
  if (has_ended_ && !held_.empty()) throw DataError(path_, "is cut off: its last character is not whole");
  return text_;
}

}  // namespace tpack
