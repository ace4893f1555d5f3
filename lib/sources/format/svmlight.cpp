#include "sources/format/svmlight.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "core/text_encoding.h"
#include "table/csv.h"
#include "table/text_file.h"

namespace tpack {
namespace {

constexpr std::string_view kBetweenWords = " \t\r\f\v";

/// Removes the first word from the line and returns it; empty at the end.
std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBetweenWords), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBetweenWords));
  line.remove_prefix(word.size());
  return word;
}

/// A part of the file in a message.
std::string quoted(std::string_view word) {
  constexpr size_t kMostBytes = 40;
  return "'" + printable(word.substr(0, kMostBytes)) + "'";
}

void add_targets(std::string_view word, SvmLightRow& row) {
  while (true) {
    const size_t comma = word.find(',');
    const std::optional<double> target = csv_number(word.substr(0, comma));
    if (!target) {
      row.why = "target " + quoted(word.substr(0, comma)) +
                " is not a number; a line is `target index:value index:value ...`";
      return;
    }
    row.targets.push_back(*target + 0.0);  // -0 is the class 0
    if (comma == std::string_view::npos) return;
    word.remove_prefix(comma + 1);
  }
}

void add_feature(std::string_view word, SvmLightRow& row) {
  const size_t colon = word.find(':');
  const std::string_view index = word.substr(0, colon);
  if (index == "qid" && colon != std::string_view::npos) return;
  int64_t number = -1;
  const auto [end, failure] = std::from_chars(index.data(), index.data() + index.size(), number);
  const bool is_whole = failure == std::errc{} && end == index.data() + index.size();
  if (colon == std::string_view::npos || !is_whole || number < 0) {
    row.why = quoted(word) + " is not `index:value` with an integer as index";
    return;
  }
  const std::string_view text = word.substr(colon + 1);
  const std::optional<double> value = csv_number(text);
  if (!value || std::abs(*value) > std::numeric_limits<float>::max()) {
    row.why = "feature " + std::string(index) + " has " + quoted(text) + ", which is not a number of float32";
    return;
  }
  constexpr double kAllIntegers = 1 << std::numeric_limits<float>::digits;  // integers up to this are exact
  const auto rounded = static_cast<float>(*value);
  if (row.rounded.empty() && std::abs(*value) > kAllIntegers && static_cast<double>(rounded) != *value)
    row.rounded = text;
  row.features.push_back({number, rounded});
}

void sort_features(SvmLightRow& row) {
  const auto by_index = [](const auto& a, const auto& b) { return a.index < b.index; };
  if (!std::is_sorted(row.features.begin(), row.features.end(), by_index))
    std::stable_sort(row.features.begin(), row.features.end(), by_index);
  const auto twice = std::adjacent_find(row.features.begin(), row.features.end(),
                                        [](const auto& a, const auto& b) { return a.index == b.index; });
  if (twice != row.features.end()) row.why = "feature " + std::to_string(twice->index) + " has two values";
}

}  // namespace

SvmLightReader::SvmLightReader(std::string_view text, const std::string& path)
    : rest_(require_text(text, path, "an SVMLight file")) {}

std::string_view SvmLightReader::next_line() {
  const size_t end = std::min(rest_.find('\n'), rest_.size());
  const std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  ++line_;
  return line.substr(0, line.find('#'));
}

bool SvmLightReader::next(SvmLightRow& row) {
  std::string_view line;
  std::string_view word;
  while (word.empty()) {
    if (rest_.empty()) return false;
    line = next_line();
    word = take_word(line);
  }
  row.line = line_;
  row.targets.clear();
  row.features.clear();
  row.why.clear();
  row.rounded.clear();
  if (word.find(':') == std::string_view::npos) {
    add_targets(word, row);
    word = take_word(line);
  }
  for (; row.why.empty() && !word.empty(); word = take_word(line)) add_feature(word, row);
  if (row.why.empty()) sort_features(row);
  return true;
}

}  // namespace tpack
