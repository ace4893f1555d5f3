#pragma once

#include <functional>
#include <string>

#include "core/formula.h"
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

  /// `owner`: "layer Elementwise". Errors: ConfigError for a formula without a name.
  TensorFormula(Formula formula, const std::string& owner);
  /// The value in the graph's float type. Errors: ConfigError and ShapeError with the place inside the text.
  Symbol emit(Builder& b, const Lookup& value_of) const;
  Position position() const { return formula_.node().position(); }

  /// The syntax of formulas, for the description of a field.
  static std::string syntax();

 private:
  Formula formula_;
};

}  // namespace tpack
