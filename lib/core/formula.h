#pragma once

#include <optional>
#include <string>

#include "core/expression.h"
#include "core/field.h"

namespace tpack {

/// An expression as the value of a field, `0.9 * old`: unlike `$(...)`, it is not evaluated when the config
/// loads.
class Formula {
 public:
  /// Nothing: to be given.
  Formula() = default;
  /// Errors: ConfigError with the place inside the text.
  explicit Formula(const ConfigNode& node, const ExpressionGrammar& grammar = {});

  bool empty() const { return !expression_; }
  /// As it is written.
  const ConfigNode& node() const { return node_; }
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

/// How a field has a Formula, or what is made from one.
class FormulaCodec {
 public:
  static FieldType type() {
    return FieldType::either({FieldType::text(), FieldType::number(), {.base = FieldType::Base::kBool}},
                             "an expression");
  }
  static ConfigNode dump(const Formula& formula) {
    return formula.empty() ? ConfigNode() : ConfigNode::string(formula.text(), formula.position());
  }

 protected:
  static std::optional<Formula> parse(const ConfigNode& node, Reader& reader,
                                      const ExpressionGrammar& grammar);
};

template <>
struct Codec<Formula> : FormulaCodec {
  static std::optional<Formula> parse(const ConfigNode& node, Reader& reader) {
    return node.is_null() ? Formula() : FormulaCodec::parse(node, reader, {});
  }
};

}  // namespace tpack
