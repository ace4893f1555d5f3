#include "optim/update.h"

#include "graph/variable_pattern.h"

namespace tpack {

std::string UpdateSchedule::str() const {
  return is_always() ? "all" : std::to_string(steps) + " of " + std::to_string(round);
}

bool Update::selects(const std::string& variable) const {
  return (variables.empty() || is_for_variable(variables, variable)) && !is_for_variable(frozen, variable);
}

}  // namespace tpack
