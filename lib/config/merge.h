#pragma once

#include "core/config_node.h"
#include "core/error.h"

namespace tpack {

/// `base` with what `over` says: maps are merged key by key, everything else is replaced.
/// - A list goes behind the one that is there with `!append`; `!delete` takes a key or an item away.
/// - A map over a component list changes the items its keys name (`{conv0: {filters: 64}}`).
/// - A slot that holds one component (trainer, optimizer, input) is merged where the component is the same
/// and
///   replaced where it is another.
/// - A flow may have options in one place and its list in another (`{workers: 2}` over a list).
/// Both are whole configs. Mistakes go to `errors`. The result has no tags.
ConfigNode merge(const ConfigNode& base, const ConfigNode& over, Diagnostics& errors);

}  // namespace tpack
