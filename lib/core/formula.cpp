#include "core/formula.h"

namespace tpack {

Formula::Formula(const ConfigNode& node)
    : node_(node), text_(node.text()), expression_(Expression::parse(text_, node.text_position(0))) {}

std::optional<Formula> Codec<Formula>::parse(const ConfigNode& node, Reader& reader) {
  if (node.is_null()) return Formula();
  if (!node.is_scalar()) {
    reader.wrong_type(node, type().str());
    return std::nullopt;
  }
  try {
    return Formula(node);
  } catch (const ConfigError& error) {
    for (const Problem& problem : error.problems())
      reader.errors().add(problem.where, reader.what() + ": " + problem.text);
    return std::nullopt;
  }
}

}  // namespace tpack
