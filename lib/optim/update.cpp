#include "optim/update.h"

#include <algorithm>

#include "core/text.h"

namespace tpack {

bool Update::selects(const std::string& variable) const {
  const auto matches = [&variable](const Ref<Variable>& pattern) {
    try {
      return variable.starts_with(pattern.name + "/") || full_match(variable, pattern.name);
    } catch (const ConfigError& error) {
      throw ConfigError(pattern.position, error.what());
    }
  };
  return variables.empty() || std::any_of(variables.begin(), variables.end(), matches);
}

}  // namespace tpack
