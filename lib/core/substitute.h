#pragma once

#include <set>
#include <string>

#include "core/config_node.h"
#include "core/error.h"
#include "core/expression.h"

namespace tpack {

/// How to handle names without a dot.
enum class BareNames : uint8_t {
  kResolve,  // looked up like other names
  kLeave     // an expression with one stays an expression; its other names are replaced by their values
};

/// Replaces every `$(...)` in the strings of a tree. A string that is a single expression takes the type of
/// the value; inside other text, values become part of the text. Values keep the positions of the strings
/// they replace. Mistakes go to `errors`, and the string is not changed. Keys are not changed.
ConfigNode substitute(const ConfigNode& tree, const Scope& scope, Diagnostics& errors,
                      BareNames bare = BareNames::kResolve);

/// The tree with the names of environment variables in its expressions replaced by their values ('' for those
/// that are not set), so that it means the same elsewhere.
ConfigNode with_environment(const ConfigNode& tree);

/// Adds the names that the expressions of a tree mention ("width", "vars.width"). Errors: ConfigError for one
/// that cannot be read.
void collect_names(const ConfigNode& tree, std::set<std::string>& names);

/// One string of such a tree. Errors: ConfigError.
ConfigNode substitute_text(const ConfigNode& node, const Scope& scope, BareNames bare = BareNames::kResolve);

}  // namespace tpack
