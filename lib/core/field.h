#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/config_node.h"
#include "core/error.h"
#include "core/text.h"

namespace tpack {

struct FieldInfo;

/// The type of a field, for docs, JSON Schema and messages, and for the structure of a config in includes,
/// overrides and expressions.
struct FieldType {
  enum class Base : uint8_t {
    kBool,  // if there are `choices`, only these
    kInteger,
    kNumber,
    kText,
    kChoice,   // one of `choices`
    kList,     // of `element`
    kMap,      // values of type `element` by names that the config chooses; the names in `fields` have other
               // types
    kSection,  // a map with the keys `fields`
    kEither,   // one of `alternatives`
    kComponent,  // of kind `of`, or of one of the kinds `choices`
    kReference,  // to something of kind `of`: "layer or input", "path", ...
    kPattern,    // that chooses some of `of` by their names: "variables", ...
    kAny         // a subtree that the owner reads
  };
  Base base = Base::kAny;
  std::string of = {};  // the name of a map, section, alternatives or subtree in texts
  std::vector<std::string> choices = {};
  std::shared_ptr<const FieldType> element = nullptr;
  bool nullable = false;
  std::shared_ptr<const std::vector<FieldInfo>> fields = nullptr;
  std::string shorthand = {};  // the field of a section that a value other than a map sets; or none
  std::shared_ptr<const std::vector<FieldType>> alternatives = nullptr;
  bool owns_names =
      false;  // bare names in its expressions are resolved by its owner, not when a config loads

  static FieldType any(const std::string& text) { return {.of = text}; }
  static FieldType integer() { return {.base = Base::kInteger}; }
  static FieldType number() { return {.base = Base::kNumber}; }
  static FieldType text() { return {.base = Base::kText}; }
  static FieldType choice(std::vector<std::string> choices) {
    return {.base = Base::kChoice, .choices = std::move(choices)};
  }
  static FieldType component(const std::string& kind) { return {.base = Base::kComponent, .of = kind}; }
  static FieldType reference(const std::string& kind) { return {.base = Base::kReference, .of = kind}; }
  static FieldType pattern(const std::string& for_what) { return {.base = Base::kPattern, .of = for_what}; }
  static FieldType list_of(FieldType element);
  static FieldType map_of(FieldType element, const std::string& text);
  static FieldType map_of(FieldType element, const std::string& text, std::vector<FieldInfo> fields);
  static FieldType section(std::vector<FieldInfo> fields, const std::string& text,
                           const std::string& shorthand = "");
  static FieldType either(std::vector<FieldType> alternatives, const std::string& text);
  /// The same for values whose owner resolves bare names itself.
  FieldType owning_names() const {
    FieldType type = *this;
    type.owns_names = true;
    return type;
  }
  bool is_component(const std::string& kind) const { return base == Base::kComponent && of == kind; }
  bool is_list_of_components(const std::string& kind) const {
    return base == Base::kList && element->is_component(kind);
  }

  /// "an integer", "a list of numbers", "one of a, b".
  std::string str() const;
};

/// The allowed numbers of a field.
struct Check {
  std::optional<double> minimum = {};
  std::optional<double> maximum = {};
  std::optional<double> above = {};

  bool accepts(double value) const;
  /// "from 0 to 1", "at least 1", "above 0".
  std::string str() const;
};

Check between(double low, double high);  // both included
Check at_least(double low);
Check above(double low);
/// A time limit in seconds: above 0, and no more than clocks can count.
Check time_limit();

/// One field of a component, for docs and tools.
struct FieldInfo {
  std::string name;
  FieldType type;
  Check check;
  ConfigNode default_value;  // meaningless where required
  bool required = false;
  std::string doc = {};
  bool shorthand = false;  // a value of the component that is not a map sets this field
};

/// The end of a message about a map instead of a list.
inline constexpr const char* kItemHint = "; begin each item with '- '";

/// The context of reading a value, and the target of its errors.
class Reader {
 public:
  Reader(std::string what, Check check, Diagnostics& errors)
      : what_(std::move(what)), check_(check), errors_(errors) {}

  /// Adds "<what>: expected <type>, found <node>".
  /// `fix` ends the message.
  void wrong_type(const ConfigNode& node, const std::string& expected, const std::string& fix = "");
  void fail(const ConfigNode& node, const std::string& text);
  /// False after reporting a number that the field does not allow.
  bool allowed(const ConfigNode& node, double value);
  Diagnostics& errors() { return errors_; }
  const std::string& what() const { return what_; }

 private:
  std::string what_;  // "'rate' of layer Dropout"
  Check check_;
  Diagnostics& errors_;
};

/// Reads a C++ type from a config and writes it back. Specialize for further types: `type`, `parse` (nullopt
/// after reporting to the reader) and `dump`.
template <class T>
struct Codec;

template <>
struct Codec<bool> {
  static FieldType type() { return {.base = FieldType::Base::kBool}; }
  static std::optional<bool> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(bool value) { return value; }
};

/// Reads an integer within [low, high].
std::optional<int64_t> parse_int(const ConfigNode& node, Reader& reader, int64_t low, int64_t high);
std::optional<double> parse_real(const ConfigNode& node, Reader& reader);

template <std::integral I>
requires(!std::same_as<I, bool>) struct Codec<I> {
  static FieldType type() { return {.base = FieldType::Base::kInteger}; }
  static std::optional<I> parse(const ConfigNode& node, Reader& reader) {
    constexpr auto kHigh = sizeof(I) == 8 ? std::numeric_limits<int64_t>::max()
                                          : static_cast<int64_t>(std::numeric_limits<I>::max());
    const auto value = parse_int(node, reader, static_cast<int64_t>(std::numeric_limits<I>::min()), kHigh);
    return value ? std::optional<I>(static_cast<I>(*value)) : std::nullopt;
  }
  static ConfigNode dump(I value) { return value; }
};

template <std::floating_point F>
struct Codec<F> {
  static FieldType type() { return {.base = FieldType::Base::kNumber}; }
  static std::optional<F> parse(const ConfigNode& node, Reader& reader) {
    const auto value = parse_real(node, reader);
    if (value && std::isfinite(*value) && std::abs(*value) > std::numeric_limits<F>::max()) {
      reader.fail(
          node, node.text() + " is out of range; must be at most " + shortest(std::numeric_limits<F>::max()));
      return std::nullopt;
    }
    return value ? std::optional<F>(static_cast<F>(*value)) : std::nullopt;
  }
  /// In the usual form: 0.2, not the double nearest to the float.
  static ConfigNode dump(F value) {
    if constexpr (std::is_same_v<F, float>) return std::strtod(shortest(value).c_str(), nullptr);
    return value;
  }
};

template <>
struct Codec<std::string> {
  static FieldType type() { return {.base = FieldType::Base::kText}; }
  static std::optional<std::string> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const std::string& value) { return value; }
};

/// Names of an enum's values; specialize with `static constexpr std::array<std::pair<const char*, E>, N>
/// kNames`.
template <class E>
struct EnumNames;

/// Reads one of `names`, reports with a suggestion otherwise.
std::optional<size_t> parse_choice(const ConfigNode& node, Reader& reader,
                                   const std::vector<std::string>& names);

template <class E>
requires std::is_enum_v<E>
struct Codec<E> {
  static std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const auto& [name, value] : EnumNames<E>::kNames) all.emplace_back(name);
    return all;
  }
  static FieldType type() { return {.base = FieldType::Base::kChoice, .choices = names()}; }
  static std::optional<E> parse(const ConfigNode& node, Reader& reader) {
    const auto index = parse_choice(node, reader, names());
    return index ? std::optional<E>(EnumNames<E>::kNames[*index].second) : std::nullopt;
  }
  static ConfigNode dump(E value) {
    for (const auto& [name, candidate] : EnumNames<E>::kNames) {
      if (candidate == value) return name;
    }
    return {};
  }
};

template <class T>
struct Codec<std::vector<T>> {
  static FieldType type() { return FieldType::list_of(Codec<T>::type()); }
  static std::optional<std::vector<T>> parse(const ConfigNode& node, Reader& reader) {
    const bool of_components = Codec<T>::type().base == FieldType::Base::kComponent;
    if (!node.is_list()) {
      reader.wrong_type(node, type().str(), of_components && node.is_map() ? kItemHint : "");
      return std::nullopt;
    }
    std::vector<T> values;
    for (const ConfigNode& item : node.items()) {
      if (of_components && item.is_null()) {
        reader.fail(item, "an empty entry; name a component");
      } else if (auto value = Codec<T>::parse(item, reader)) {
        values.push_back(std::move(*value));
      }
    }
    return values.size() == node.size() ? std::optional(std::move(values)) : std::nullopt;
  }
  static ConfigNode dump(const std::vector<T>& values) {
    std::vector<ConfigNode> items;
    for (const T& value : values) items.push_back(Codec<T>::dump(value));
    return ConfigNode::list(std::move(items));
  }
};

template <class A, class B>
struct Codec<std::pair<A, B>> {
  static FieldType type() {
    return FieldType::any("a pair [" + Codec<A>::type().str() + ", " + Codec<B>::type().str() + "]");
  }
  static std::optional<std::pair<A, B>> parse(const ConfigNode& node, Reader& reader) {
    if (!node.is_list() || node.size() != 2) {
      reader.wrong_type(node, type().str());
      return std::nullopt;
    }
    auto first = Codec<A>::parse(node.items()[0], reader);
    auto second = Codec<B>::parse(node.items()[1], reader);
    if (!first || !second) return std::nullopt;
    return std::pair<A, B>(std::move(*first), std::move(*second));
  }
  static ConfigNode dump(const std::pair<A, B>& value) {
    return ConfigNode::list({Codec<A>::dump(value.first), Codec<B>::dump(value.second)});
  }
};

template <class T>
struct Codec<std::optional<T>> {
  static FieldType type() {
    FieldType type = Codec<T>::type();
    type.nullable = true;
    return type;
  }
  static std::optional<std::optional<T>> parse(const ConfigNode& node, Reader& reader) {
    if (node.is_null()) return std::optional<T>();
    auto value = Codec<T>::parse(node, reader);
    if (!value) return std::nullopt;
    return std::optional<T>(std::move(*value));
  }
  static ConfigNode dump(const std::optional<T>& value) {
    return value ? Codec<T>::dump(*value) : ConfigNode();
  }
};

/// A subtree that the owner reads.
template <>
struct Codec<ConfigNode> {
  static FieldType type() { return FieldType::any("any value"); }
  static std::optional<ConfigNode> parse(const ConfigNode& node, Reader& /*reader*/) { return node; }
  static ConfigNode dump(const ConfigNode& value) { return value; }
};

/// A name of something else in the config: a layer's output, an input, a variable, a flow, a path; or a
/// pattern for such names. Keeps its position; the code that uses it resolves it before the run and gets
/// suggestions from `unknown`.
template <class Tag>
struct Ref {
  std::string name = {};
  Position position = {};

  bool empty() const { return name.empty(); }
  bool operator==(const Ref& other) const { return name == other.name; }
};

struct LayerOutput {
  static constexpr const char* kWhat = "layer or input";
};
struct Variable {
  static constexpr const char* kWhat = "variable";
};
struct HyperParamName {
  static constexpr const char* kWhat = "hyper-parameter";
};
struct CostName {
  static constexpr const char* kWhat = "cost";
};
struct NetworkOrLayer {
  static constexpr const char* kWhat = "network or layer";
};
struct NetworkName {
  static constexpr const char* kWhat = "network";
};
struct Stat {
  static constexpr const char* kWhat = "statistic";
};
struct DeviceName {
  static constexpr const char* kWhat = "device";
};
struct FlowName {
  static constexpr const char* kWhat = "flow";
};
/// A file or folder; relative to the config file that names it.
struct Path {
  static constexpr const char* kWhat = "path";
};

/// Patterns for names (is_for_variable): regular expressions for whole names, or prefixes of their path.
struct VariablePattern {
  static constexpr const char* kPatternFor = "variables";
};
struct OutputPattern {
  static constexpr const char* kPatternFor = "layers or inputs";
};

/// The path, absolute or relative to the folder of the file that contains it.
std::string resolved_path(const Ref<Path>& path);

/// Errors: ConfigError at the field if the path does not exist, or is not a folder; `what` is the expected
/// kind. `owner`: "CSV".
void require_path(const std::string& owner, const Ref<Path>& path, const char* what = "file");
void require_folder(const std::string& owner, const Ref<Path>& path);

/// The written form of a reference: a path becomes absolute, because the copy of a config may be elsewhere.
template <class Tag>
std::string dumped_name(const Ref<Tag>& ref) {
  return ref.name;
}
std::string dumped_name(const Ref<Path>& path);

template <class Tag>
struct Codec<Ref<Tag>> {
  static FieldType type() {
    if constexpr (requires { Tag::kPatternFor; }) {
      return FieldType::pattern(Tag::kPatternFor);
    } else {
      return FieldType::reference(Tag::kWhat);
    }
  }
  static std::optional<Ref<Tag>> parse(const ConfigNode& node, Reader& reader) {
    if (node.is_null()) return Ref<Tag>{};
    auto name = Codec<std::string>::parse(node, reader);
    if (!name) return std::nullopt;
    return Ref<Tag>{std::move(*name), node.position()};
  }
  static ConfigNode dump(const Ref<Tag>& ref) {
    return ref.empty() ? ConfigNode() : ConfigNode::string(dumped_name(ref), ref.position);
  }
};

/// The error for a reference to something that does not exist: "unknown layer or input 'fc2'; did you mean
/// 'fc1'?".
ConfigError unknown_reference(std::string_view what, const std::string& name, const Position& position,
                              const std::vector<std::string>& known);

}  // namespace tpack
