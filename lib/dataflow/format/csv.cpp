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
    if (end == std::string_view::npos) reject(line, "a quote is not closed");
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
  const size_t begin = at_;
  while (at_ < text_.size() && !is_delimiter(text_[at_]) && !ends_line()) ++at_;
  return text_.substr(begin, at_ - begin);
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
  fields.clear();
  unquoted_.clear();
  while (skip_line_end()) {
  }
  if (at_ == text_.size()) return false;
  line_ = next_line_;
  if (delimiter_ == kWhitespace) {
    split_at_whitespace(fields);
    return !fields.empty();
  }
  fields.push_back(field());
  while (at_ < text_.size() && text_[at_] == delimiter_) {
    ++at_;
    fields.push_back(field());
  }
  skip_line_end();
  return true;
}

std::optional<double> csv_number(std::string_view field) {
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
