#include "optim/update.h"

#include <algorithm>

#include "graph/variable_pattern.h"

namespace tpack {

std::string Turn::str() const {
  return is_always() ? "all" : std::to_string(steps) + " of " + std::to_string(round);
}

bool Update::selects(const std::string& variable) const {
  const auto is_in = [&variable](const std::vector<Ref<Variable>>& patterns) {
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](const auto& pattern) { return is_for_variable(pattern, variable); });
  };
  return (variables.empty() || is_in(variables)) && !is_in(frozen);
}

}  // namespace tpack
