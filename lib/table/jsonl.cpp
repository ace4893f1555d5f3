#include "table/jsonl.h"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/text.h"
#include "core/text_encoding.h"

namespace tpack {
namespace {

constexpr size_t kMaxValuesOfLine = 100'000;
constexpr size_t kMaxDepth = 100;

/// Takes the values of one object from the parser.
class ValueCollector final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit ValueCollector(std::vector<JsonlValue>& values) : values_(values) {}

  const std::string& why() const { return why_; }
  bool has_too_many() const { return values_.size() > kMaxValuesOfLine; }

  bool null() override { return add(""); }
  bool boolean(bool value) override { return add(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return add(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return add(std::to_string(value)); }
  bool number_float(number_float_t /*value*/, const string_t& digits) override { return add(digits); }
  bool string(string_t& value) override { return add(value); }
  bool binary(binary_t& /*value*/) override { return false; }  // JSON has none
  bool start_object(size_t /*elements*/) override { return open(false); }
  bool key(string_t& name) override {
    name_.resize(open_.back().name_size);
    name_ += name;
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(size_t /*elements*/) override {
    return open_.empty() ? not_an_object("a list") : open(true);
  }
  bool end_array() override { return close(); }
  bool parse_error(size_t byte, const std::string& token, const nlohmann::detail::exception& /*e*/) override {
    constexpr size_t kShown = 40;
    const std::string shown = token.size() > kShown ? "..." + token.substr(token.size() - kShown) : token;
    why_ = "is not JSON: byte " + std::to_string(byte) + " ('" + printable(shown) + "')";
    return false;
  }

 private:
  /// An object or a list around the next value.
  struct Level {
    bool is_list;
    size_t name_size;  // length of its own name, with the dot after it
    size_t next = 0;   // element of a list
  };

  bool not_an_object(const std::string& what) {
    why_ = "has " + what + ", not an object such as {\"width\": 1.5}";
    return false;
  }
  void name_element() {
    if (!open_.empty() && open_.back().is_list) {
      name_.resize(open_.back().name_size);
      name_ += std::to_string(open_.back().next++);
    }
  }
  bool open(bool is_list) {
    if (open_.size() == kMaxDepth) why_ = "has lists and objects nested deeper than 100 levels";
    if (open_.size() == kMaxDepth) return false;
    name_element();
    if (!open_.empty()) name_ += '.';
    open_.push_back({is_list, name_.size()});
    return true;
  }
  bool close() {
    name_.resize(open_.back().name_size == 0 ? 0 : open_.back().name_size - 1);
    open_.pop_back();
    return true;
  }
  bool add(const std::string& text) {
    if (open_.empty()) return not_an_object("a value");
    name_element();
    values_.push_back({name_, text});
    return !has_too_many();
  }

  std::vector<JsonlValue>& values_;
  std::string why_;
  std::string name_;  // of the next value
  std::vector<Level> open_;
};

/// NaN and Infinity, which Python's json writes, are not valid JSON: outside of strings, NaN becomes null,
/// and an infinite number a string.
std::string with_json_for_nan(std::string_view line) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kWords = {
      {{"NaN", "null"}, {"-Infinity", "\"-Infinity\""}, {"Infinity", "\"Infinity\""}}};
  std::string text;
  bool is_in_string = false;
  for (size_t at = 0; at < line.size();) {
    const auto word = std::find_if(kWords.begin(), kWords.end(),
                                   [&](const auto& one) { return line.substr(at).starts_with(one.first); });
    if (!is_in_string && word != kWords.end()) {
      text += word->second;
      at += word->first.size();
      continue;
    }
    if (line[at] == '"') is_in_string = !is_in_string;
    if (is_in_string && line[at] == '\\' && at + 1 < line.size()) text += line[at++];
    text += line[at++];
  }
  return text;
}

}  // namespace

JsonlReader::JsonlReader(std::string_view text, std::string path, int64_t first_line)
    : text_(text), path_(std::move(path)), line_(first_line - 1) {}

bool JsonlReader::next() {
  while (!text_.empty()) {
    const std::string_view line = text_.substr(0, text_.find('\n'));
    text_.remove_prefix(std::min(line.size() + 1, text_.size()));
    ++line_;
    if (trim(line).empty()) continue;
    parse(line);
    return true;
  }
  return false;
}

void JsonlReader::parse(std::string_view line) {
  const bool has_nan =
      line.find("NaN") != std::string_view::npos || line.find("Infinity") != std::string_view::npos;
  const std::string changed = has_nan ? with_json_for_nan(line) : "";
  if (has_nan) line = changed;
  values_.clear();
  ValueCollector collector(values_);
  nlohmann::json::sax_parse(line.begin(), line.end(), &collector);
  if (collector.has_too_many())
    throw DataError(path_ + ":" + std::to_string(line_), "more than " + with_thousands(kMaxValuesOfLine) +
                                                             " values; a row must have one per column");
  why_ = collector.why();
}

}  // namespace tpack
