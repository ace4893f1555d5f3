#pragma once

#include <functional>
#include <string>

#include "core/expression_parser.h"
#include "graph/builder.h"

namespace tpack {

/// A formula over tensors in the syntax of expressions, computed element by element: `sqrt(x) * y + 1`.
/// Shapes broadcast as in NumPy. Parts without a name are numbers, computed immediately; comparisons are 1 or
/// 0.
class TensorFormula {
 public:
  /// A name in the formula; `quoted`: in single quotes, for names that are not words of the grammar
  /// ('left/mean').
  struct Name {
    Ref<LayerOutput> output;
    bool quoted = false;
  };
  /// The value of a name. Errors: ConfigError with suggestion.
  using Lookup = std::function<Symbol(const Name&)>;

  /// `owner`: "layer Elementwise". Errors: ConfigError with the place inside the text; for a text without a
  /// name.
  TensorFormula(const ConfigNode& text, const std::string& owner);
  /// The value in the graph's float type. Errors: ConfigError and ShapeError with the place inside the text.
  Symbol emit(Builder& b, const Lookup& value_of) const;
  const Position& position() const { return position_; }

  /// The syntax of formulas, for the description of a field.
  static std::string syntax();

 private:
  Position position_;
  ExpressionNode::Ptr root_;
};

}  // namespace tpack
