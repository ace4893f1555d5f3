#include "dataflow/format/csv.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "core/error.h"
#include "core/text.h"

namespace tpack {
namespace {

constexpr size_t kBlock = 64;  // bytes that are looked at together

/// A bit for each byte of a block that is one of four.
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

/// The first mark at `byte` or after it; the size of the text if there is none. `byte` is not before that of
/// the last call.
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

/// Nothing for a quote that is not closed if more text follows.
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

/// False for a quote that is not closed if more text follows.
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

/// The same, of a line that is not blank.
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

namespace {

constexpr uint64_t kZeros = 0x3030303030303030;     // '0' in each byte
constexpr uint64_t kHighBits = 0x8080808080808080;  // of each byte
constexpr uint64_t kOnes = 0x0101010101010101;

template <class T>
uint64_t loaded(const char* at) {
  T value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// The first `count` bytes, 8 at most and 1 at least, in the order of the text from the lowest byte on.
uint64_t load_bytes(const char* at, size_t count) {
  if (count == 8) return loaded<uint64_t>(at);
  if (count >= 4) return loaded<uint32_t>(at) | loaded<uint32_t>(at + count - 4) << (8 * (count - 4));
  if (count >= 2) return loaded<uint16_t>(at) | loaded<uint8_t>(at + count - 1) << (8 * (count - 1));
  return loaded<uint8_t>(at);
}

/// A bit in each byte that is `c`; above the first one, others may be wrong.
uint64_t marks_of(uint64_t bytes, char c) {
  const uint64_t zero_where_equal = bytes ^ (kOnes * static_cast<uint8_t>(c));
  return (zero_where_equal - kOnes) & ~zero_where_equal & kHighBits;
}

/// Eight values from 0 to 9, the highest digit in the lowest byte, as one number; two, four and eight of them
/// are joined at a time.
uint64_t join_digits(uint64_t digits) {
  const uint64_t pairs = digits * 10 + (digits >> 8U);
  constexpr uint64_t kPair = 0x000000FF000000FF;
  return ((pairs & kPair) * ((1000000ULL << 32U) + 100) +
          ((pairs >> 16U) & kPair) * ((10000ULL << 32U) + 1)) >>
         32U;
}

/// Digits with a point among them or none.
struct Digits {
  uint64_t value = 0;  // without the point
  size_t count = 0;
  size_t after_point = 0;
  bool has_point = false;
};

/// Those of 1 to 8 bytes; false for other texts.
inline bool read_digits(std::string_view text, char decimal, Digits& out) {
  uint64_t bytes = load_bytes(text.data(), text.size());
  out.count = text.size();
  if (const uint64_t point = marks_of(bytes, decimal); point != 0) {
    const auto before = static_cast<size_t>(std::countr_zero(point)) / 8;
    const uint64_t low = (uint64_t{1} << (8 * before)) - 1;
    bytes = (bytes & low) | ((bytes >> 8U) & ~low);
    --out.count;
    out.after_point = out.count - before;
    out.has_point = true;
  }
  if (out.count == 0) return false;
  const uint64_t values = (bytes ^ kZeros) << (8 * (8 - out.count));
  const uint64_t above_nine = ((values + 0x7676767676767676) | values) & kHighBits;
  out.value = join_digits(values);
  return above_nine == 0;
}

/// What most numbers are: at most 15 digits, and a point. Digits and power of ten are exact doubles, so their
/// quotient is the nearest one; false for other texts. Source: Clinger 1990, "How to Read Floating Point
/// Numbers Accurately".
bool read_short_decimal(std::string_view text, char decimal, double& out) {
  constexpr std::array<double, 16> kPowers = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                              1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  if (text.empty() || text.size() > kPowers.size()) return false;
  Digits high;
  if (!read_digits(text.substr(0, 8), decimal, high)) return false;
  auto value = static_cast<double>(high.value);
  size_t after_point = high.after_point;
  if (text.size() > 8) {
    Digits low;
    if (!read_digits(text.substr(8), decimal, low) || (high.has_point && low.has_point) ||
        high.count + low.count >= kPowers.size())
      return false;
    value = value * kPowers[low.count] + static_cast<double>(low.value);
    after_point = high.has_point ? after_point + low.count : low.after_point;
  }
  value /= kPowers[after_point];
  out = is_negative ? -value : value;
  return true;
}

}  // namespace

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

bool is_missing_in_csv(std::string_view field) {
  constexpr std::array<std::string_view, 12> kMissing = {"",     "NA",   "N/A",  "n/a",  "NaN",  "nan",
                                                         "NULL", "Null", "null", "None", "none", "?"};
  return std::find(kMissing.begin(), kMissing.end(), trim(field)) != kMissing.end();
}

}  // namespace tpack
