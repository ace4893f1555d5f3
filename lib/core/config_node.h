#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/position.h"

namespace tpack {

/// One value of a config with its position in the file. An immutable tree: copying shares the content, so
/// nodes are cheap to pass by value.
///
/// Scalars are typed when they are read (YAML 1.2 core schema): null, bool, int, float, string. The original
/// text is kept. A string that contains "$(" holds an expression (core/expression.h) until it is resolved.
/// Threads: all methods may run at once.
class ConfigNode {
 public:
  enum class Kind : uint8_t { kNull, kBool, kInt, kFloat, kString, kList, kMap };
  /// How a string was written: plain, between quotes, or as a block (`|`, `>`).
  enum class Style : uint8_t { kPlain, kQuoted, kBlock };
  struct Entry;
  using Pair = std::pair<std::string, ConfigNode>;

  ConfigNode();  // null
  // Values made in C++ code; implicit so that `{{"alpha", 0.1}, {"name", "conv0"}}` reads like the YAML.
  template <std::same_as<bool> B>
  ConfigNode(B value) : ConfigNode(make_bool(value)) {}  // NOLINT(google-explicit-constructor)
  template <std::integral I>
  requires(!std::same_as<I, bool>) ConfigNode(I value)  // NOLINT(google-explicit-constructor)
      : ConfigNode(make_int(static_cast<int64_t>(value))) {}
  ConfigNode(double value);       // NOLINT(google-explicit-constructor)
  ConfigNode(float value);        // NOLINT(google-explicit-constructor)
  ConfigNode(const char* value);  // NOLINT(google-explicit-constructor)
  ConfigNode(std::string value);  // NOLINT(google-explicit-constructor)
  ConfigNode(std::initializer_list<Pair> map);

  static ConfigNode null(Position where);
  /// A plain (unquoted) YAML scalar: typed by its text.
  static ConfigNode plain(std::string text, Position where);
  static ConfigNode string(std::string text, Position where, Style style = Style::kPlain);
  static ConfigNode list(std::vector<ConfigNode> items, Position where = {});
  /// Keys must differ; the reader has checked it.
  static ConfigNode map(std::vector<Entry> entries, Position where = {});

  Kind kind() const;
  bool is_null() const { return kind() == Kind::kNull; }
  bool is_list() const { return kind() == Kind::kList; }
  bool is_map() const { return kind() == Kind::kMap; }
  bool is_string() const { return kind() == Kind::kString; }
  bool is_number() const { return kind() == Kind::kInt || kind() == Kind::kFloat; }
  bool is_scalar() const { return !is_list() && !is_map(); }
  /// True for a string that contains an expression `$(...)`.
  bool has_expression() const;
  /// True if the node or anything below it has an expression.
  bool holds_expression() const;

  const Position& position() const;
  /// The scalar as it was written (without quotes).
  const std::string& text() const;
  Style style() const;
  /// Where the character at byte `offset` of text() is in the file. Exact for scalars on one line without
  /// escapes; position() for a block.
  Position text_position(size_t offset) const;
  /// The YAML tag ("!append", "!delete") for merging includes; empty in a loaded config.
  const std::string& tag() const;
  // The typed values; InternalError for another kind (as_double also takes ints).
  bool as_bool() const;
  int64_t as_int() const;
  double as_double() const;
  std::span<const ConfigNode> items() const;  // of a list
  std::span<const Entry> entries() const;     // of a map, in file order
  size_t size() const;                        // items or entries
  /// The value of `key`; null if the map has no such key (or this is not a map).
  const ConfigNode* find(std::string_view key) const;

  /// "the number 3", "the string 'abc'", "a list", "a map", "nothing": for messages.
  std::string describe() const;
  /// Compares values, without positions.
  bool same_value(const ConfigNode& other) const;
  /// This map with `key` set (in its old place, or at the end).
  ConfigNode with(std::string_view key, ConfigNode value) const;
  /// This map without `key`.
  ConfigNode without(std::string_view key) const;
  ConfigNode at_position(Position where) const;
  ConfigNode with_tag(std::string tag) const;

 private:
  struct Data;
  explicit ConfigNode(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  static ConfigNode make_bool(bool value);
  static ConfigNode make_int(int64_t value);

  std::shared_ptr<const Data> data_;  // never null
};

struct ConfigNode::Entry {
  std::string key;
  ConfigNode value;
  Position key_position = {};
};

/// A component as an item of a list: `Name`, or a map with the single key `Name`.
struct ComponentItem {
  std::string name;
  ConfigNode params;  // null if only the name was written
  Position position;  // of the name
};

/// Reads a component item. Errors: ConfigError if the node has another form; `what` is the expected kind.
ComponentItem component_item(const ConfigNode& node, std::string_view what);

/// The tree as YAML text (block style, two spaces). Reading it again gives the same values.
std::string to_yaml(const ConfigNode& node);
/// The tree as JSON on one line; NaN and infinities become strings.
std::string to_json(const ConfigNode& node);

}  // namespace tpack
