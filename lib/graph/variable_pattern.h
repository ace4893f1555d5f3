#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/field.h"
#include "graph/variables.h"

namespace tpack {

/// is_for_variable for a pattern from a config, also for the names of outputs. Errors: ConfigError at its
/// position for an invalid regular expression.
template <class Tag>
bool is_for_variable(const Ref<Tag>& pattern, const std::string& name) {
  try {
    return is_for_variable(pattern.name, name);
  } catch (const ConfigError& error) {
    throw ConfigError(pattern.position, error.what());
  }
}

/// True if a pattern matches the name.
template <class Tag>
bool is_for_variable(const std::vector<Ref<Tag>>& patterns, const std::string& name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const Ref<Tag>& pattern) { return is_for_variable(pattern, name); });
}

/// Adds a problem at each pattern that matches none of the names, with the nearest one: `who`, such as
/// "'freeze': ", then no_match.
template <class Tag>
void check_patterns(const std::vector<Ref<Tag>>& patterns, const std::vector<std::string>& known,
                    const std::string& what, Diagnostics& errors, const std::string& who = "") {
  for (const Ref<Tag>& pattern : patterns) {
    const auto is_match = [&](const std::string& name) { return is_for_variable(pattern, name); };
    if (std::none_of(known.begin(), known.end(), is_match))
      errors.add(pattern.position, who + no_match(what, pattern.name, known));
  }
}

}  // namespace tpack
