#include "core/field.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/expression.h"
#include "core/text.h"

namespace tpack {
namespace {

constexpr size_t kMaxListed = 12;

std::string listed(const std::vector<std::string>& names) {
  if (names.size() <= kMaxListed) return join(names, ", ");
  return join(std::span(names).first(kMaxListed), ", ") + ", ... (" + std::to_string(names.size()) +
         " in all)";
}

std::string plural(const FieldType& type) {
  switch (type.base) {
    case FieldType::Base::kBool:
      return "true or false";
    case FieldType::Base::kInteger:
      return "integers";
    case FieldType::Base::kNumber:
      return "numbers";
    case FieldType::Base::kText:
      return "strings";
    case FieldType::Base::kList:
      return "lists of " + plural(*type.element);
    case FieldType::Base::kComponent:
    case FieldType::Base::kReference: {
      std::string all = type.of;  // "layer or input"
      if (const size_t at = all.find(" or "); at != std::string::npos) all.insert(at, "s");
      return all + "s";
    }
    case FieldType::Base::kPattern:
      return "patterns for " + type.of;
    default:
      return type.str();
  }
}

}  // namespace

FieldType FieldType::list_of(FieldType element) {
  return {.base = Base::kList, .element = std::make_shared<const FieldType>(std::move(element))};
}

FieldType FieldType::map_of(FieldType element, const std::string& text) {
  return map_of(std::move(element), text, {});
}

FieldType FieldType::map_of(FieldType element, const std::string& text, std::vector<FieldInfo> fields) {
  return {.base = Base::kMap,
          .of = text,
          .element = std::make_shared<const FieldType>(std::move(element)),
          .fields = std::make_shared<const std::vector<FieldInfo>>(std::move(fields))};
}

FieldType FieldType::section(std::vector<FieldInfo> fields, const std::string& text,
                             const std::string& shorthand) {
  return {.base = Base::kSection,
          .of = text,
          .fields = std::make_shared<const std::vector<FieldInfo>>(std::move(fields)),
          .shorthand = shorthand};
}

FieldType FieldType::either(std::vector<FieldType> alternatives, const std::string& text) {
  return {.base = Base::kEither,
          .of = text,
          .alternatives = std::make_shared<const std::vector<FieldType>>(std::move(alternatives))};
}

std::string FieldType::str() const {
  switch (base) {
    case Base::kBool:
      return "true or false";
    case Base::kInteger:
      return "an integer";
    case Base::kNumber:
      return "a number";
    case Base::kText:
      return "a string";
    case Base::kChoice:
      return "one of " + join(choices, ", ");
    case Base::kList:
      return "a list of " + plural(*element);
    case Base::kComponent:
      return with_article(of);
    case Base::kReference:
      return "the name of " + with_article(of);
    case Base::kPattern:
      return "a pattern for " + of;
    case Base::kMap:
    case Base::kSection:
    case Base::kEither:
    case Base::kAny:
      return of;
  }
  return "";
}

bool Check::accepts(double value) const {
  if (minimum && !(value >= *minimum)) return false;
  if (maximum && !(value <= *maximum)) return false;
  return !above || value > *above;
}

std::string Check::str() const {
  if (minimum && maximum) return "from " + shortest(*minimum) + " to " + shortest(*maximum);
  if (minimum) return "at least " + shortest(*minimum);
  if (above && maximum) return "above " + shortest(*above) + ", at most " + shortest(*maximum);
  if (above) return "above " + shortest(*above);
  return "";
}

Check between(double low, double high) { return {.minimum = low, .maximum = high}; }
Check at_least(double low) { return {.minimum = low}; }
Check above(double low) { return {.above = low}; }
Check time_limit() { return {.maximum = 1e6, .above = 0}; }

void Reader::wrong_type(const ConfigNode& node, const std::string& expected, const std::string& fix) {
  if (node.has_expression()) return;  // it has no value; already reported
  // Its length may be wrong.
  const std::string length = node.is_list() ? " of " + std::to_string(node.size()) : "";
  fail(node, "expected " + expected + ", found " + node.describe() + length +
                 (node.is_string() ? environment_hint(node.text()) : "") + fix);
}

void Reader::fail(const ConfigNode& node, const std::string& text) {
  errors_.add(node.position(), what_ + ": " + text);
}

bool Reader::allowed(const ConfigNode& node, double value) {
  if (check_.accepts(value)) return true;
  errors_.add(node.position(), what_ + " is " + node.text() + "; must be " + check_.str());
  return false;
}

std::optional<bool> Codec<bool>::parse(const ConfigNode& node, Reader& reader) {
  if (node.kind() == ConfigNode::Kind::kBool) return node.as_bool();
  std::string expected = "true or false";
  static const std::vector<std::string> kOther = {"yes", "no", "on",  "off", "Yes",
                                                  "No",  "On", "Off", "y",   "n"};
  const bool old_style =
      node.is_string() && std::find(kOther.begin(), kOther.end(), node.text()) != kOther.end();
  if (old_style) expected += " (YAML 1.2 has no '" + node.text() + "')";
  reader.wrong_type(node, expected);
  return std::nullopt;
}

std::optional<int64_t> parse_int(const ConfigNode& node, Reader& reader, int64_t low, int64_t high) {
  if (node.kind() != ConfigNode::Kind::kInt) {
    reader.wrong_type(node, "an integer");
    return std::nullopt;
  }
  const int64_t value = node.as_int();
  if (value < low || value > high) {
    reader.fail(node, node.text() + " is out of range; must be from " + std::to_string(low) + " to " +
                          std::to_string(high));
    return std::nullopt;
  }
  return reader.allowed(node, static_cast<double>(value)) ? std::optional(value) : std::nullopt;
}

std::optional<double> parse_real(const ConfigNode& node, Reader& reader) {
  if (!node.is_number()) {
    std::string expected = "a number";
    // Some YAML readers treat 1e-3 without a point as a string; tpack does not, unless it has quotes.
    if (node.is_string() && ConfigNode::plain(node.text(), {}).is_number())
      expected += " (remove the quotes)";
    reader.wrong_type(node, expected);
    return std::nullopt;
  }
  const double value = node.as_double();
  if (!std::isfinite(value)) {
    reader.fail(node, node.text() + " is not a finite number");
    return std::nullopt;
  }
  return reader.allowed(node, value) ? std::optional(value) : std::nullopt;
}

std::optional<std::string> Codec<std::string>::parse(const ConfigNode& node, Reader& reader) {
  if (!node.is_string()) {
    const bool quotable = node.is_number() || node.kind() == ConfigNode::Kind::kBool;
    reader.wrong_type(node, quotable ? "a string (write \"" + node.text() + "\")" : "a string");
    return std::nullopt;
  }
  return node.text();
}

std::optional<size_t> parse_choice(const ConfigNode& node, Reader& reader,
                                   const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), node.text());
  if (node.is_scalar() && !node.is_null() && found != names.end())
    return static_cast<size_t>(found - names.begin());
  if (node.is_scalar() && !node.is_null()) {
    reader.fail(node, "unknown value '" + node.text() + "'; must be one of " + join(names, ", ") +
                          did_you_mean(node.text(), names));
  } else {
    reader.wrong_type(node, "one of " + join(names, ", "));
  }
  return std::nullopt;
}

ConfigError unknown_reference(std::string_view what, const std::string& name, const Position& position,
                              const std::vector<std::string>& known) {
  std::string text = "unknown " + std::string(what) + " '" + name + "'";
  std::vector<std::string> inner;  // of this name in several scopes: "d/learning_rate", "g/learning_rate"
  for (const std::string& one : known) {
    if (one.ends_with("/" + name)) inner.push_back("'" + one + "'");
  }
  if (inner.size() > 1) return {position, text + "; did you mean one of " + listed(inner) + "?"};
  const std::string suggestion = did_you_mean(name, known);
  if (!suggestion.empty()) return {position, text + suggestion};
  return {position, text + (known.empty() ? "; none are defined" : "; known: " + listed(known))};
}

std::string resolved_path(const Ref<Path>& path) {
  const std::filesystem::path written(path.name);
  const bool from_file = path.position.known() && path.position.line > 0;
  if (written.is_absolute() || !from_file) return path.name;
  return (std::filesystem::path(*path.position.file).parent_path() / written).lexically_normal().string();
}

namespace {

[[noreturn]] void reject_path(const std::string& owner, const Ref<Path>& path, const char* what) {
  throw ConfigError(path.position, owner + ": no such " + what + " '" + resolved_path(path) + "'" +
                                       environment_hint(path.name));
}

}  // namespace

void require_path(const std::string& owner, const Ref<Path>& path, const char* what) {
  std::error_code unknown;  // opening it gives a better message
  const bool is_absent = !std::filesystem::exists(resolved_path(path), unknown) && !unknown;
  if (is_absent) reject_path(owner, path, what);
}

void require_folder(const std::string& owner, const Ref<Path>& path) {
  std::error_code unknown;
  if (!std::filesystem::is_directory(resolved_path(path), unknown)) reject_path(owner, path, "folder");
}

std::string dumped_name(const Ref<Path>& path) {
  return std::filesystem::absolute(resolved_path(path)).lexically_normal().string();
}

}  // namespace tpack
