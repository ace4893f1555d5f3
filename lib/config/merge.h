#pragma once

#include "core/config_node.h"
#include "core/error.h"

namespace tpack {

/// `base` with what `over` says: maps are merged key by key, everything else is replaced.
/// - A list with `!append` is added to the end of the existing one; `!delete` removes a key or an item.
/// - A map over a component list changes the items its keys name (`{conv0: {filters: 64}}`).
/// - A slot that holds one component (trainer, optimizer, input) is merged if the component is the same
/// and
///   replaced if it is another.
/// - A flow may have options in one place and its list in another (`{workers: 2}` over a list).
/// Both are whole configs. Mistakes go to `errors`. The result has no tags.
ConfigNode merge(const ConfigNode& base, const ConfigNode& over, Diagnostics& errors);

}  // namespace tpack
