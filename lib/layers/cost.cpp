#include "layers/cost.h"

namespace tpack {

std::optional<NumberOrOutput> Codec<NumberOrOutput>::parse(const ConfigNode& node, Reader& reader) {
  if (node.is_number()) return NumberOrOutput{node.as_double(), {}};
  if (!node.is_string()) {
    reader.wrong_type(node, type().of);
    return std::nullopt;
  }
  return NumberOrOutput{0, {node.text(), node.position()}};
}

ConfigNode Codec<NumberOrOutput>::dump(const NumberOrOutput& value) {
  if (value.output.empty()) return value.number;
  return ConfigNode::string(value.output.name, value.output.position);
}

Builder::Operand ModelView::like(const NumberOrOutput& value, Symbol x) const {
  if (value.output.empty()) return value.number;
  const Symbol given = output(value.output);
  if (given.shape().elements() != x.shape().elements()) {
    throw ShapeError(value.output.position, "output " + value.output.name + " has shape " +
                                                given.shape().str() + ", but needs one value for each of " +
                                                x.shape().str());
  }
  const Symbol values = builder_.to_float(given);
  return given.shape() == x.shape() ? values : builder_.reshape(values, x.shape());
}

std::vector<Symbol> ModelView::trainable(const Ref<Variable>& pattern) const {
  std::vector<Symbol> found;
  std::vector<std::string> known;
  try {
    for (const VariableSpec* spec : builder_.variables().trainable()) {
      known.push_back(spec->name);
      if (is_for_variable(pattern.name, spec->name)) found.push_back(builder_.read(spec->name, spec->spec));
    }
  } catch (const ConfigError& error) {
    throw ConfigError(pattern.position, error.what());
  }
  if (found.empty() && !network_.complete()) throw AlreadyReported();
  if (found.empty()) {
    throw ConfigError(pattern.position, no_match("trainable variable", pattern.name, known));
  }
  return found;
}

}  // namespace tpack
