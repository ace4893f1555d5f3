#include "dataflow/format/csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/error.h"
#include "core/text.h"
#include "dataflow/format/text_file.h"

namespace tpack {

CsvReader::CsvReader(std::string_view text, char delimiter, std::string path)
    : text_(require_text(text, path, "a CSV file")), delimiter_(delimiter), path_(std::move(path)) {}

CsvReader::CsvReader(More more, char delimiter, std::string path)
    : CsvReader(more(), delimiter, std::move(path)) {
  more_ = std::move(more);
}

/// Goes on with the text from a place on, and the next piece.
void CsvReader::add_piece(size_t from) {
  constexpr size_t kMaxRecord = size_t{1} << 26U;
  if (text_.size() - from > kMaxRecord)
    reject(next_line_, "a row of more than 64 MB; is a quote not closed?");
  std::string window(text_.substr(from));  // of the last window, or of a piece that the next one replaces
  const std::string_view piece = more_();
  if (piece.empty()) more_ = {};
  window_ = std::move(window.append(piece));
  text_ = window_;
  at_ = 0;
}

void CsvReader::reject(int64_t line, const std::string& text) const {
  throw DataError(path_ + ":" + std::to_string(line), text);
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

std::string_view CsvReader::quoted_field() {
  const size_t begin = ++at_;
  const int64_t line = next_line_;
  std::string* joined = nullptr;  // once there was a ""
  size_t part = begin;
  while (true) {
    const size_t end = text_.find('"', at_);
    if (end == std::string_view::npos && !more_) reject(line, "a quote is not closed");
    if (end == std::string_view::npos) {  // the record is read again, with what follows
      at_ = text_.size();
      return {};
    }
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

std::string_view CsvReader::field() {
  if (at_ < text_.size() && text_[at_] == '"') return quoted_field();
  // Most time is spent here, so nothing is called for each character.
  const bool is_whitespace = delimiter_ == kWhitespace;
  const char one = is_whitespace ? ' ' : delimiter_;
  const char other = is_whitespace ? '\t' : delimiter_;
  const std::string_view rest = text_.substr(at_);
  size_t size = 0;
  while (size < rest.size() && rest[size] != one && rest[size] != other && rest[size] != '\n' &&
         rest[size] != '\r')
    ++size;
  at_ += size;
  return rest.substr(0, size);
}

void CsvReader::split_at_whitespace(std::vector<std::string_view>& fields) {
  const auto skip_blanks = [this] {
    while (at_ < text_.size() && is_delimiter(text_[at_])) ++at_;
  };
  while (fields.empty() && at_ < text_.size()) {  // not for lines of blanks
    line_ = next_line_;
    for (skip_blanks(); at_ < text_.size() && !ends_line(); skip_blanks()) fields.push_back(field());
    skip_line_end();
  }
}

bool CsvReader::next(std::vector<std::string_view>& fields) {
  const int64_t line = next_line_;
  size_t begin = at_;
  read_record(fields);
  for (; at_ == text_.size() && more_; begin = 0) {  // a record that ends with the piece may not be whole
    next_line_ = line;
    add_piece(begin);
    read_record(fields);
  }
  return !fields.empty();
}

/// No fields: the end.
void CsvReader::read_record(std::vector<std::string_view>& fields) {
  fields.clear();
  unquoted_.clear();
  while (skip_line_end()) {
  }
  if (at_ == text_.size()) return;
  line_ = next_line_;
  if (delimiter_ == kWhitespace) return split_at_whitespace(fields);
  fields.push_back(field());
  while (at_ < text_.size() && text_[at_] == delimiter_) {
    ++at_;
    fields.push_back(field());
  }
  skip_line_end();
}

namespace {

/// What most numbers are: at most 15 digits, and a point. Digits and power of ten are exact doubles, so their
/// quotient is the nearest one; nothing for other texts. Source: Clinger 1990, "How to Read Floating Point
/// Numbers Accurately".
std::optional<double> short_decimal(std::string_view text) {
  constexpr std::array<double, 16> kPowers = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                              1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const bool is_negative = text.starts_with('-');
  int64_t digits = 0;
  size_t count = 0;
  size_t after_point = 0;
  bool has_point = false;
  for (const char c : text.substr(is_negative ? 1 : 0)) {
    if (c >= '0' && c <= '9') {
      if (++count == kPowers.size()) return std::nullopt;
      digits = digits * 10 + (c - '0');
      after_point += has_point ? 1 : 0;
    } else if (c == '.' && !has_point) {
      has_point = true;
    } else {
      return std::nullopt;
    }
  }
  if (count == 0) return std::nullopt;
  const double value = static_cast<double>(digits) / kPowers[after_point];
  return is_negative ? -value : value;
}

}  // namespace

std::optional<double> csv_number(std::string_view field) {
  if (const auto value = short_decimal(field)) return value;
  std::string_view digits = trim(field);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  double value = 0;
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
