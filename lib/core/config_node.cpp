#include "core/config_node.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "core/error.h"
#include "core/text.h"

namespace tpack {

struct ConfigNode::Data {
  Kind kind = Kind::kNull;
  Style style = Style::kPlain;
  std::string text;
  std::string tag;
  bool boolean = false;
  int64_t integer = 0;
  double number = 0;
  std::vector<ConfigNode> items;
  std::vector<Entry> entries;
  Position position;
};

namespace {

bool looks_numeric(const std::string& text) {
  const size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  if (sign == text.size()) return false;
  const bool point_first = text[sign] == '.' && sign + 1 < text.size();
  return starts_with_digit(std::string_view(text).substr(sign + (point_first ? 1 : 0)));
}

template <class T>
std::optional<T> parse_number(std::string_view text, int base = 10) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  T value{};
  std::from_chars_result result{};
  if constexpr (std::is_integral_v<T>) {
    result = std::from_chars(text.data(), text.data() + text.size(), value, base);
  } else {
    result = std::from_chars(text.data(), text.data() + text.size(), value);
  }
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int64_t> parse_integer(const std::string& text) {
  const bool based = text.starts_with("0x") || text.starts_with("0o");
  if (based && text.find_first_of("+-") != std::string::npos) return std::nullopt;
  if (based) return parse_number<int64_t>(std::string_view(text).substr(2), text[1] == 'x' ? 16 : 8);
  return parse_number<int64_t>(text);
}

std::optional<double> parse_double(const std::string& text) {
  const bool sign = text.starts_with("-") || text.starts_with("+");
  const std::string_view size = std::string_view(text).substr(sign ? 1 : 0);
  if (size == ".inf" || size == ".Inf" || size == ".INF") {
    return text[0] == '-' ? -std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::infinity();
  }
  if (text == ".nan" || text == ".NaN" || text == ".NAN") return std::numeric_limits<double>::quiet_NaN();
  return looks_numeric(text) ? parse_number<double>(text) : std::nullopt;
}

}  // namespace

ConfigNode::ConfigNode() : data_(std::make_shared<Data>()) {}

ConfigNode::ConfigNode(double value) {
  auto data = std::make_shared<Data>();
  data->kind = Kind::kFloat;
  data->number = value;
  data->text = shortest(value);
  // 2.0 must not become the integer 2 after writing and reading.
  if (data->text.find_first_of(".en") == std::string::npos) data->text += ".0";
  data_ = std::move(data);
}

ConfigNode::ConfigNode(float value) {
  ConfigNode node(static_cast<double>(value));
  auto data = std::make_shared<Data>(*node.data_);
  data->text = shortest(value);
  if (data->text.find_first_of(".en") == std::string::npos) data->text += ".0";
  data_ = std::move(data);
}

ConfigNode::ConfigNode(const char* value) : ConfigNode(string(value, {})) {}
ConfigNode::ConfigNode(std::string value) : ConfigNode(string(std::move(value), {})) {}

ConfigNode::ConfigNode(std::initializer_list<Pair> pairs) {
  auto data = std::make_shared<Data>();
  data->kind = Kind::kMap;
  for (const Pair& pair : pairs) data->entries.push_back({pair.first, pair.second, {}});
  data_ = std::move(data);
}

ConfigNode ConfigNode::make_bool(bool value) {
  auto data = std::make_shared<Data>();
  data->kind = Kind::kBool;
  data->boolean = value;
  data->text = value ? "true" : "false";
  return ConfigNode(std::shared_ptr<const Data>(std::move(data)));
}

ConfigNode ConfigNode::make_int(int64_t value) {
  auto data = std::make_shared<Data>();
  data->kind = Kind::kInt;
  data->integer = value;
  data->number = static_cast<double>(value);
  data->text = std::to_string(value);
  return ConfigNode(std::shared_ptr<const Data>(std::move(data)));
}

ConfigNode ConfigNode::null(Position where) {
  auto data = std::make_shared<Data>();
  data->position = std::move(where);
  return ConfigNode(std::shared_ptr<const Data>(std::move(data)));
}

ConfigNode ConfigNode::plain(std::string text, Position where) {
  auto data = std::make_shared<Data>();
  data->position = std::move(where);
  data->text = std::move(text);
  const std::string& written = data->text;
  if (written.empty() || written == "~" || written == "null" || written == "Null" || written == "NULL") {
    data->kind = Kind::kNull;
  } else if (written == "true" || written == "True" || written == "TRUE" || written == "false" ||
             written == "False" || written == "FALSE") {
    data->kind = Kind::kBool;
    data->boolean = written[0] == 't' || written[0] == 'T';
  } else if (const auto integer = looks_numeric(written) ? parse_integer(written) : std::nullopt) {
    data->kind = Kind::kInt;
    data->integer = *integer;
    data->number = static_cast<double>(*integer);
  } else if (const auto number = parse_double(written)) {
    data->kind = Kind::kFloat;
    data->number = *number;
  } else {
    data->kind = Kind::kString;
  }
  return ConfigNode(std::shared_ptr<const Data>(std::move(data)));
}

ConfigNode ConfigNode::string(std::string text, Position where, Style style) {
  auto data = std::make_shared<Data>();
  data->kind = Kind::kString;
  data->style = style;
  data->text = std::move(text);
  data->position = std::move(where);
  return ConfigNode(std::shared_ptr<const Data>(std::move(data)));
}

ConfigNode ConfigNode::list(std::vector<ConfigNode> items, Position where) {
  auto data = std::make_shared<Data>();
  data->kind = Kind::kList;
  data->items = std::move(items);
  data->position = std::move(where);
  return ConfigNode(std::shared_ptr<const Data>(std::move(data)));
}

ConfigNode ConfigNode::map(std::vector<Entry> entries, Position where) {
  auto data = std::make_shared<Data>();
  data->kind = Kind::kMap;
  data->entries = std::move(entries);
  data->position = std::move(where);
  return ConfigNode(std::shared_ptr<const Data>(std::move(data)));
}

ConfigNode::Kind ConfigNode::kind() const { return data_->kind; }
const Position& ConfigNode::position() const { return data_->position; }
const std::string& ConfigNode::text() const { return data_->text; }
ConfigNode::Style ConfigNode::style() const { return data_->style; }
const std::string& ConfigNode::tag() const { return data_->tag; }
std::span<const ConfigNode> ConfigNode::items() const { return data_->items; }
std::span<const ConfigNode::Entry> ConfigNode::entries() const { return data_->entries; }
size_t ConfigNode::size() const { return is_map() ? data_->entries.size() : data_->items.size(); }

bool ConfigNode::has_expression() const { return is_string() && data_->text.find("$(") != std::string::npos; }

bool ConfigNode::holds_expression() const {
  const auto in_entry = [](const Entry& entry) { return entry.value.holds_expression(); };
  if (is_list())
    return std::any_of(items().begin(), items().end(), std::mem_fn(&ConfigNode::holds_expression));
  if (is_map()) return std::any_of(entries().begin(), entries().end(), in_entry);
  return has_expression();
}

Position ConfigNode::text_position(size_t offset) const {
  Position where = position();
  if (where.line == 0 || data_->style == Style::kBlock) return where;
  const std::string_view before = std::string_view(text()).substr(0, offset);
  const int quote = data_->style == Style::kQuoted ? 1 : 0;
  where.column += quote + static_cast<int>(character_count(before));
  return where;
}

bool ConfigNode::as_bool() const {
  TPACK_ASSERT(kind() == Kind::kBool, "as_bool of " + describe());
  return data_->boolean;
}

int64_t ConfigNode::as_int() const {
  TPACK_ASSERT(kind() == Kind::kInt, "as_int of " + describe());
  return data_->integer;
}

double ConfigNode::as_double() const {
  TPACK_ASSERT(is_number(), "as_double of " + describe());
  return data_->number;
}

const ConfigNode* ConfigNode::find(std::string_view key) const {
  const auto& entries = data_->entries;
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.key == key; });
  return found == entries.end() ? nullptr : &found->value;
}

namespace {

/// The start of a long text, such as a table that was passed as a config.
std::string beginning_of(const std::string& text) {
  constexpr size_t kMost = 80;  // bytes
  if (text.size() <= kMost) return text;
  size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // whole characters
  return text.substr(0, end) + "...";
}

}  // namespace

std::string ConfigNode::describe() const {
  switch (kind()) {
    case Kind::kNull:
      return "nothing";
    case Kind::kBool:
      return "'" + text() + "'";
    case Kind::kInt:
    case Kind::kFloat:
      return "the number " + text();
    case Kind::kString:
      return "the string '" + beginning_of(text()) + "'";
    case Kind::kList:
      return "a list";
    case Kind::kMap:
      return "a map";
  }
  return "";
}

bool ConfigNode::same_value(const ConfigNode& other) const {
  if (data_ == other.data_) return true;
  if (kind() != other.kind() || size() != other.size()) return false;
  switch (kind()) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
      return as_bool() == other.as_bool();
    case Kind::kInt:
      return as_int() == other.as_int();
    case Kind::kFloat:
      return as_double() == other.as_double() || (std::isnan(as_double()) && std::isnan(other.as_double()));
    case Kind::kString:
      return text() == other.text();
    case Kind::kList:
      return std::equal(items().begin(), items().end(), other.items().begin(),
                        [](const ConfigNode& a, const ConfigNode& b) { return a.same_value(b); });
    case Kind::kMap:
      return std::all_of(entries().begin(), entries().end(), [&](const Entry& e) {
        const ConfigNode* there = other.find(e.key);
        return there != nullptr && e.value.same_value(*there);
      });
  }
  return false;
}

ConfigNode ConfigNode::with(std::string_view key, ConfigNode value) const {
  auto data = std::make_shared<Data>(*data_);
  data->kind = Kind::kMap;
  for (Entry& entry : data->entries) {
    if (entry.key != key) continue;
    entry.value = std::move(value);
    return ConfigNode(std::shared_ptr<const Data>(std::move(data)));
  }
  Position where = value.position();
  data->entries.push_back({std::string(key), std::move(value), std::move(where)});
  return ConfigNode(std::shared_ptr<const Data>(std::move(data)));
}

ConfigNode ConfigNode::without(std::string_view key) const {
  auto data = std::make_shared<Data>(*data_);
  std::erase_if(data->entries, [&](const Entry& e) { return e.key == key; });
  return ConfigNode(std::shared_ptr<const Data>(std::move(data)));
}

ConfigNode ConfigNode::at_position(Position where) const {
  auto data = std::make_shared<Data>(*data_);
  data->position = std::move(where);
  return ConfigNode(std::shared_ptr<const Data>(std::move(data)));
}

ConfigNode ConfigNode::with_tag(std::string tag) const {
  auto data = std::make_shared<Data>(*data_);
  data->tag = std::move(tag);
  return ConfigNode(std::shared_ptr<const Data>(std::move(data)));
}

ComponentItem component_item(const ConfigNode& node, std::string_view what) {
  if (node.is_string()) return {node.text(), ConfigNode::null(node.position()), node.position()};
  if (node.is_map() && node.size() == 1) {
    const ConfigNode::Entry& entry = node.entries()[0];
    return {entry.key, entry.value, entry.key_position.known() ? entry.key_position : node.position()};
  }
  std::string text =
      "expected " + with_article(what) + " as 'Name' or 'Name: {...}', found " + node.describe();
  if (node.is_map() && node.size() > 1) {
    std::vector<std::string> keys;
    for (const ConfigNode::Entry& entry : node.entries()) keys.push_back(entry.key);
    text += " of " + join(keys, ", ") + "; keep one, or indent the keys of '" + keys[0] + "' further";
  }
  throw ConfigError(node.position(), text);
}

}  // namespace tpack
