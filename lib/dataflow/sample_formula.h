#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/formula.h"
#include "dataflow/datapoint.h"
#include "dataflow/formula_step.h"
#include "dataflow/spec.h"

namespace tpack {

/// An expression over the components of a sample, as the value of a field: `width * height`.
class SampleExpression : public Formula {
 public:
  SampleExpression() = default;
  explicit SampleExpression(Formula formula) : Formula(std::move(formula)) {}
  /// The components in the expression. A string that is compared with a name counts as a class name.
  std::vector<std::string> components() const;
};

template <>
struct Codec<SampleExpression> : FormulaCodec {
  static std::optional<SampleExpression> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const SampleExpression& expression) { return expression.node(); }
};

/// A SampleExpression, compiled for samples of one spec. Numbers are computed in double and rounded to the
/// type of each step, integers exactly up to 2^53. Shapes broadcast as in NumPy. Threads: any number at once.
class SampleFormula {
 public:
  SampleFormula() = default;
  /// Errors: ConfigError with the position inside the text; `owner` ("map Compute") is for messages.
  SampleFormula(const SampleExpression& expression, const Spec& in, const std::string& owner);

  /// Sizes may be unknown.
  const TensorSpec& result() const { return steps_.back().result; }
  /// The component, if the formula is only its name.
  std::optional<size_t> copied() const;
  /// Computes component `to` of the sample. Errors: DataError.
  void store(Datapoint& d, size_t to) const;
  /// The value of a formula that is one number. Errors: DataError.
  double value(Datapoint& d) const;

  /// The syntax of formulas, for the documentation of a field.
  static std::string syntax();

 private:
  std::vector<FormulaStep> steps_;
};

}  // namespace tpack
