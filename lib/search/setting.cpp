#include "search/setting.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <memory>

#include "config/overrides.h"
#include "config/yaml_reader.h"
#include "core/text.h"

namespace tpack {
namespace {

constexpr const char* kRangeForm = "write LOW..HIGH, or LOW..HIGH log";

/// The value on one line; keeps the form of numbers, and tags.
std::string flow_yaml(const ConfigNode& node) {
  const std::string tag = node.tag().empty() ? "" : node.tag() + " ";
  std::vector<std::string> parts;
  if (node.is_list()) {
    for (const ConfigNode& item : node.items()) parts.push_back(flow_yaml(item));
    return tag + "[" + join(parts, ", ") + "]";
  }
  if (node.is_map()) {
    for (const ConfigNode::Entry& entry : node.entries())
      parts.push_back(to_json(entry.key) + ": " + flow_yaml(entry.value));
    return tag + "{" + join(parts, ", ") + "}";
  }
  if (node.is_null()) return tag.empty() ? "null" : node.tag();
  const bool is_plain_word = node.is_string() && node.style() == ConfigNode::Style::kPlain &&
                             node.text().find_first_of("\"'\\,[]{}:#\n") == std::string::npos;
  return tag + (node.is_string() && !is_plain_word ? to_json(node) : node.text());
}

bool looks_like_a_range(const ConfigNode& item) {
  const bool is_plain = item.is_string() && item.style() == ConfigNode::Style::kPlain;
  if (!is_plain || item.text().find("..") == std::string::npos) return false;
  std::string_view text = item.text();
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with('.')) text.remove_prefix(1);
  return starts_with_digit(text);
}

/// Errors: ConfigError at `where`.
ValueRange parse_range(const std::string& text, const Position& where) {
  const size_t dots = text.find("..");
  std::string high = std::string(trim(std::string_view(text).substr(dots + 2)));
  ValueRange range;
  constexpr std::string_view kLog = " log";
  if (high.ends_with(kLog)) {
    range.is_log = true;
    high = std::string(trim(std::string_view(high).substr(0, high.size() - kLog.size())));
  }
  const ConfigNode low_node = ConfigNode::plain(std::string(trim(text.substr(0, dots))), where);
  const ConfigNode high_node = ConfigNode::plain(high, where);
  if (!low_node.is_number() || !high_node.is_number())
    throw ConfigError(where, "'" + text + "' is not a range of numbers; " + kRangeForm);
  range.low = low_node.as_double();
  range.high = high_node.as_double();
  range.is_integer = low_node.kind() == ConfigNode::Kind::kInt && high_node.kind() == ConfigNode::Kind::kInt;
  const bool is_finite = std::isfinite(range.low) && std::isfinite(range.high);
  if (!is_finite || !(range.low < range.high))
    throw ConfigError(where, "range '" + text + "' is empty; the first number must be below the second");
  if (range.is_log && range.low <= 0)
    throw ConfigError(where, "range '" + text + "' is logarithmic; its first number must be above 0");
  return range;
}

/// The value under the words of the key, one nested map for each word.
const ConfigNode& value_of(const ConfigNode& tree, size_t words) {
  const ConfigNode* node = &tree;
  for (size_t i = 0; i < words; ++i) node = &node->entries()[0].value;
  return *node;
}

void read_values(const ConfigNode& list, SearchSetting& setting) {
  const Position& where = list.position();
  if (list.size() == 0)
    throw ConfigError(
        where, "no value to search; to set an empty list in all runs, write '" + setting.key + "=[[]]'");
  for (const ConfigNode& item : list.items()) {
    if (looks_like_a_range(item)) {
      if (list.size() > 1)
        throw ConfigError(where, "range '" + item.text() + "' is one of several values; write it alone, or " +
                                     "put it in quotes within a list if it is a string");
      setting.range = parse_range(item.text(), where);
      return;
    }
    std::string value = flow_yaml(item);
    if (std::find(setting.values.begin(), setting.values.end(), value) != setting.values.end())
      throw ConfigError(where, "duplicate value " + value);
    setting.values.push_back(std::move(value));
  }
}

SearchSetting parse_setting(const std::string& text) {
  NodeBudget budget;
  const ConfigNode tree = parse_override(text, budget);
  SearchSetting setting;
  setting.text = text;
  setting.key = std::string(trim(std::string_view(text).substr(0, text.find('='))));
  const ConfigNode& value = value_of(tree, split(setting.key, '.').size());
  if (value.is_list() && value.tag().empty()) read_values(value, setting);
  return setting;
}

/// The last `count` words.
std::string last_words(const std::string& key, size_t count) {
  const std::vector<std::string> words = split(key, '.');
  const size_t first = words.size() - std::min(count, words.size());
  return join(std::span(words).subspan(first), ".");
}

bool may_be_in_a_name(const std::string& value) {
  constexpr size_t kMax = 24;
  return value.size() <= kMax && std::all_of(value.begin(), value.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '+' || c == '_';
         });
}

}  // namespace

std::string ValueRange::draw(Rng& rng) const {
  const double last = is_integer ? high + 1 : high;  // integers are rounded down
  const double part = rng.uniform64();
  const double value =
      is_log ? std::exp(std::log(low) + part * (std::log(last) - std::log(low))) : low + part * (last - low);
  if (is_integer) return std::to_string(static_cast<int64_t>(std::clamp(std::floor(value), low, high)));
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g", value);
  return shortest(std::clamp(std::stod(text.data()), low, high));
}

std::vector<SearchSetting> parse_search_settings(const std::vector<std::string>& texts) {
  Diagnostics errors;
  std::vector<SearchSetting> settings;
  for (const std::string& text : texts) {
    try {
      settings.push_back(parse_setting(text));
    } catch (const ConfigError& error) {
      errors.add(error, {});
    }
  }
  for (const SearchSetting& setting : settings) {
    const auto same = std::count_if(settings.begin(), settings.end(),
                                    [&](const SearchSetting& other) { return other.key == setting.key; });
    if (setting.is_searched() && same > 1)
      errors.add({std::make_shared<const std::string>("--set " + setting.key), 0, 0},
                 "is given more than once; write all values in one list");
  }
  errors.throw_if_any();
  return settings;
}

std::vector<std::string> overrides_of(const std::vector<SearchSetting>& settings, const SearchPoint& point) {
  std::vector<std::string> overrides;
  size_t next = 0;
  for (const SearchSetting& setting : settings)
    overrides.push_back(setting.is_searched() ? setting.key + "=" + point[next++] : setting.text);
  return overrides;
}

std::vector<std::string> searched_keys(const std::vector<SearchSetting>& settings) {
  std::vector<std::string> keys;
  for (const SearchSetting& setting : settings)
    if (setting.is_searched()) keys.push_back(setting.key);
  return keys;
}

std::vector<std::string> short_keys(const std::vector<std::string>& keys) {
  std::vector<std::string> shorter;
  for (const std::string& key : keys) {
    const size_t words = split(key, '.').size();
    size_t count = 1;
    const auto is_shared = [&](const std::string& other) {
      return other != key && last_words(other, count) == last_words(key, count);
    };
    while (count < words && std::any_of(keys.begin(), keys.end(), is_shared)) ++count;
    shorter.push_back(last_words(key, count));
  }
  return shorter;
}

std::string run_name(size_t number, const std::vector<std::string>& keys, const SearchPoint& point) {
  constexpr size_t kMax = 100;
  std::array<char, 24> digits{};
  std::snprintf(digits.data(), digits.size(), "%03zu", number);
  std::string name = digits.data();
  const std::vector<std::string> shorter = short_keys(keys);
  char separator = '-';
  for (size_t i = 0; i < point.size(); ++i) {
    const std::string part = shorter[i] + "=" + point[i];
    if (!may_be_in_a_name(point[i]) || name.size() + 1 + part.size() > kMax) continue;
    name += separator + part;
    separator = ',';
  }
  return name;
}

}  // namespace tpack
