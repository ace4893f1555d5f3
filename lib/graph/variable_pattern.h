#pragma once

#include <string>

#include "core/field.h"
#include "graph/variables.h"

namespace tpack {

/// is_for_variable for a pattern from a config, also one for the names of outputs. Errors: ConfigError at its
/// position for a regular expression that is none.
template <class Tag>
bool is_for_variable(const Ref<Tag>& pattern, const std::string& name) {
  try {
    return is_for_variable(pattern.name, name);
  } catch (const ConfigError& error) {
    throw ConfigError(pattern.position, error.what());
  }
}

}  // namespace tpack
