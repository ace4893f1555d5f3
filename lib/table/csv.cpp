#include "table/csv.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "core/error.h"
#include "core/text.h"
#include "table/short_decimal.h"

namespace tpack {
namespace {

constexpr size_t kBlock = 64;  // bytes that are scanned together

/// A bit for each byte of a block that is one of four characters.
uint64_t bits_of_any(const char* block, const std::array<char, 4>& wanted) {
  using Bytes [[gnu::vector_size(16)]] = char;
  uint64_t all = 0;
  for (size_t at = 0; at < kBlock; at += sizeof(Bytes)) {
    Bytes bytes = {};
    std::memcpy(&bytes, block + at, sizeof bytes);
    const auto is_one =
        (bytes == wanted[0]) | (bytes == wanted[1]) | (bytes == wanted[2]) | (bytes == wanted[3]);
    std::array<uint64_t, 2> eights = {};  // bytes of 0 or 255
    std::memcpy(eights.data(), &is_one, sizeof is_one);
    constexpr uint64_t kLowBits = 0x0101010101010101;
    constexpr uint64_t kToHighByte = 0x0102040810204080;  // the lowest bit of byte i to bit 56 + i
    all |= ((eights[0] & kLowBits) * kToHighByte) >> 56U << at;
    all |= ((eights[1] & kLowBits) * kToHighByte) >> 56U << (at + 8);
  }
  return all;
}

}  // namespace

CsvReader::CsvReader(std::string_view text, char delimiter, Place place)
    : text_(text), delimiter_(delimiter), place_(std::move(place)), next_line_(place_.first_line) {
  look_at(0);
}

void CsvReader::reject(int64_t line, const std::string& text) const {
  throw DataError(place_.path + ":" + std::to_string(line), text);
}

bool CsvReader::is_delimiter(char c) const {
  return delimiter_ == kWhitespace ? c == ' ' || c == '\t' : c == delimiter_;
}

bool CsvReader::ends_line() const { return text_[at_] == '\n' || text_[at_] == '\r'; }

/// False if there is no line end here.
bool CsvReader::skip_line_end() {
  if (at_ == text_.size() || !ends_line()) return false;
  if (text_.substr(at_).starts_with("\r\n")) ++at_;
  ++at_;
  ++next_line_;
  return true;
}

void CsvReader::look_at(size_t byte) {
  block_ = byte / kBlock * kBlock;
  const std::string_view some = text_.substr(std::min(block_, text_.size()), kBlock);
  const std::array<char, 4> wanted = {delimiter_, '\n', '\r', '"'};
  if (some.size() == kBlock) {
    marks_ = bits_of_any(some.data(), wanted);
    return;
  }
  std::array<char, kBlock> padded = {};
  some.copy(padded.data(), some.size());
  marks_ = bits_of_any(padded.data(), wanted) & ((uint64_t{1} << some.size()) - 1);
}

/// The first mark at or after `byte`; the size of the text if there is none. `byte` must not decrease between
/// calls.
size_t CsvReader::find_mark(size_t byte) {
  if (byte >= block_ + kBlock) look_at(byte);
  uint64_t left = marks_ & (~uint64_t{0} << (byte - block_));
  while (left == 0) {
    if (block_ + kBlock >= text_.size()) return text_.size();
    look_at(block_ + kBlock);
    left = marks_;
  }
  return block_ + static_cast<size_t>(std::countr_zero(left));
}

/// Nothing for an unclosed quote if more text follows.
std::optional<std::string_view> CsvReader::quoted_field() {
  const size_t begin = ++at_;
  const int64_t line = next_line_;
  std::string* joined = nullptr;  // once there was a ""
  size_t part = begin;
  while (true) {
    const size_t end = text_.find('"', at_);
    if (end == std::string_view::npos && place_.is_last) reject(line, "a quote is not closed");
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view between = text_.substr(at_, end - at_);
    next_line_ += std::count(between.begin(), between.end(), '\n');
    at_ = end + 1;
    if (at_ < text_.size() && text_[at_] == '"') {
      if (joined == nullptr) joined = &unquoted_.emplace_back();
      *joined += text_.substr(part, at_ - part);  // with one of the two quotes
      part = ++at_;
      continue;
    }
    if (at_ < text_.size() && !is_delimiter(text_[at_]) && !ends_line())
      reject(next_line_, "text after a closing quote; write \"\" for a quote inside quotes");
    if (joined == nullptr) return text_.substr(begin, end - begin);
    *joined += text_.substr(part, end - part);
    return *joined;
  }
}

bool CsvReader::next(std::vector<std::string_view>& fields) {
  fields.clear();
  unquoted_.clear();
  const auto skip_blanks = [this] {
    while (delimiter_ == kWhitespace && at_ < text_.size() && is_delimiter(text_[at_])) ++at_;
  };
  for (skip_blanks(); skip_line_end(); skip_blanks()) {
  }
  if (at_ == text_.size()) return false;
  const size_t begin = at_;
  line_ = next_line_;
  const bool is_whole = delimiter_ == kWhitespace ? split_at_whitespace(fields) : split(fields);
  if (is_whole) {
    skip_line_end();
  } else {
    at_ = begin;
    next_line_ = line_;
  }
  return is_whole;
}

/// False for an unclosed quote if more text follows.
bool CsvReader::split(std::vector<std::string_view>& fields) {
  while (true) {
    if (at_ < text_.size() && text_[at_] == '"') {
      const auto field = quoted_field();
      if (!field) return false;
      fields.push_back(*field);
    } else {
      size_t end = find_mark(at_);
      while (end < text_.size() && text_[end] == '"') end = find_mark(end + 1);  // as in 5" pipe
      fields.push_back(text_.substr(at_, end - at_));
      at_ = end;
    }
    if (at_ == text_.size() || text_[at_] != delimiter_) return true;
    ++at_;
  }
}

/// The same for a line that is not blank.
bool CsvReader::split_at_whitespace(std::vector<std::string_view>& fields) {
  while (at_ < text_.size() && !ends_line()) {
    if (text_[at_] == '"') {
      const auto field = quoted_field();
      if (!field) return false;
      fields.push_back(*field);
    } else {
      const size_t end = std::min(text_.find_first_of(" \t\r\n", at_), text_.size());
      fields.push_back(text_.substr(at_, end - at_));
      at_ = end;
    }
    while (at_ < text_.size() && is_delimiter(text_[at_])) ++at_;
  }
  return true;
}

std::optional<double> csv_number(std::string_view field, char decimal) {
  double value = 0;
  if (read_short_decimal(field, decimal, value)) return value;
  std::string_view digits = trim(field);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  std::string with_point;
  if (decimal != '.') {
    with_point = digits;
    std::replace(with_point.begin(), with_point.end(), decimal, '.');
    digits = with_point;
  }
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = failure == std::errc{} && end == digits.data() + digits.size();
  if (!whole || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::string> csv_number_key(std::string_view field) {
  const auto number = csv_number(field);
  if (!number) return std::nullopt;
  const std::string_view text = trim(field);
  const bool has_leading_zero = text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
  return has_leading_zero ? std::string(text) : shortest(*number);
}

bool is_missing_in_csv(std::string_view field) {
  constexpr std::array<std::string_view, 18> kMissing = {"",     "NA",   "N/A",  "n/a",  "NaN",  "nan",
                                                         "NULL", "Null", "null", "None", "none", "#N/A",
                                                         "#NA",  "<NA>", "NaT",  "-nan", "\\N",  "?"};
  return std::find(kMissing.begin(), kMissing.end(), trim(field)) != kMissing.end();
}

}  // namespace tpack
