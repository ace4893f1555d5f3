#include "optim/variable_factors.h"

#include <algorithm>

#include "graph/variable_pattern.h"

namespace tpack {

size_t VariableFactors::entry_for(const std::string& variable) const {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
    return is_for_variable(entry.pattern, variable);
  });
  return static_cast<size_t>(found - entries.begin());
}

double VariableFactors::of(const std::string& variable) const {
  const size_t index = entry_for(variable);
  return index == entries.size() ? 1 : entries[index].factor;
}

Symbol VariableFactors::of_elements(Builder& b, const FlatLayout& layout, const std::string& what) const {
  std::vector<bool> counts(entries.size() + 1, false);
  std::vector<std::string> known;
  Tensor values(TensorSpec{DType::kFloat64, Shape{layout.size}});
  const std::span<double> factors = values.span<double>();
  std::fill(factors.begin(), factors.end(), 1.0);
  for (const FlatLayout::Entry& variable : layout.entries) {
    counts[entry_for(variable.name)] = true;
    known.push_back(variable.name);
    const auto own =
        factors.subspan(static_cast<size_t>(variable.offset), static_cast<size_t>(variable.shape.elements()));
    std::fill(own.begin(), own.end(), of(variable.name));
  }
  Diagnostics errors;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (counts[i]) continue;
    const Ref<VariablePattern>& pattern = entries[i].pattern;
    const bool is_late = std::any_of(known.begin(), known.end(),
                                     [&](const auto& name) { return is_for_variable(pattern, name); });
    errors.add(
        pattern.position,
        what + ": " +
            (is_late ? "'" + pattern.name +
                           "' has no effect: patterns before it match the same variables; move it before them"
                     : no_match("trained variable", pattern.name, known)));
  }
  errors.throw_if_any();
  return b.constant(values.cast(b.float_type()));
}

std::optional<VariableFactors> Codec<VariableFactors>::parse(const ConfigNode& node, Reader& reader) {
  if (!node.is_map()) {
    reader.wrong_type(node, "a map of factors by variable ({'.*/b': 2})");
    return std::nullopt;
  }
  VariableFactors factors;
  for (const ConfigNode::Entry& entry : node.entries()) {
    Reader number(reader.what() + ": the factor of '" + entry.key + "'", {}, reader.errors());
    const auto factor = Codec<double>::parse(entry.value, number);
    if (factor && !(*factor > 0)) {
      reader.errors().add(entry.value.position(),
                          number.what() + " is " + shortest(*factor) +
                              "; must be above 0; to keep variables constant, use `freeze`");
    } else if (factor) {
      factors.entries.push_back({{entry.key, entry.key_position}, *factor});
    }
  }
  return factors.entries.size() == node.size() ? std::optional(std::move(factors)) : std::nullopt;
}

ConfigNode Codec<VariableFactors>::dump(const VariableFactors& factors) {
  std::vector<ConfigNode::Entry> entries;
  for (const VariableFactors::Entry& entry : factors.entries)
    entries.push_back({entry.pattern.name, entry.factor, entry.pattern.position});
  return ConfigNode::map(std::move(entries));
}

}  // namespace tpack
