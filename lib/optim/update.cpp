#include "optim/update.h"

#include <algorithm>

#include "graph/variables.h"

namespace tpack {

bool Update::selects(const std::string& variable) const {
  const auto matches = [&variable](const Ref<Variable>& pattern) {
    try {
      return is_for_variable(pattern.name, variable);
    } catch (const ConfigError& error) {
      throw ConfigError(pattern.position, error.what());
    }
  };
  return variables.empty() || std::any_of(variables.begin(), variables.end(), matches);
}

}  // namespace tpack
