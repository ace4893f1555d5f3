#pragma once

#include <optional>
#include <string>

#include "core/expression.h"
#include "core/field.h"

namespace tpack {

/// An expression as the value of a field, `0.9 * old`: unlike `$(...)`, it is evaluated while a run goes on.
class Formula {
 public:
  /// Nothing: to be given.
  Formula() = default;
  /// Errors: ConfigError with the place inside the text.
  explicit Formula(const ConfigNode& node);

  bool empty() const { return !expression_; }
  const std::string& text() const { return text_; }
  /// Where the character at `offset` of the text is in the config.
  Position position(size_t offset = 0) const { return node_.text_position(offset); }
  /// Not of an empty one.
  const Expression& expression() const { return *expression_; }

 private:
  ConfigNode node_;
  std::string text_;
  std::optional<Expression> expression_;
};

template <>
struct Codec<Formula> {
  static FieldType type() {
    return FieldType::either({FieldType::text(), FieldType::number(), {.base = FieldType::Base::kBool}},
                             "an expression");
  }
  static std::optional<Formula> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const Formula& formula) {
    return formula.empty() ? ConfigNode() : ConfigNode::string(formula.text(), formula.position());
  }
};

}  // namespace tpack
