#pragma once

#include "core/config_node.h"
#include "core/error.h"
#include "core/field.h"

namespace tpack {

/// The config with every expression replaced by its value. A dotted name is a path from the root (or from
/// `vars`), a bare name is one of `vars`, else a key of the root. If a value owns its names by `structure`
/// (the layers of a model: they may be parameters of a block), an expression with bare names stays; its
/// dotted names and env are replaced. Values may depend on each other in any order. Mistakes and cycles go to
/// `errors`.
ConfigNode resolve_expressions(const ConfigNode& config, const FieldType& structure, Diagnostics& errors);

}  // namespace tpack
