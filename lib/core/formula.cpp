#include "core/formula.h"

namespace tpack {

Formula::Formula(const ConfigNode& node, const ExpressionGrammar& grammar)
    : node_(node),
      text_(node.text()),
      expression_(Expression::parse(text_, node.text_position(0), grammar)) {}

std::optional<Formula> FormulaCodec::parse(const ConfigNode& node, Reader& reader,
                                           const ExpressionGrammar& grammar) {
  if (!node.is_scalar() || node.is_null()) {
    reader.wrong_type(node, "an expression, such as 2 * x");
    return std::nullopt;
  }
  try {
    return Formula(node, grammar);
  } catch (const ConfigError& error) {
    for (const Problem& problem : error.problems())
      reader.errors().add(problem.where, reader.what() + ": " + problem.text);
    return std::nullopt;
  }
}

}  // namespace tpack
