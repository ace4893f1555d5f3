#pragma once

#include "core/config_node.h"
#include "core/error.h"
#include "core/field.h"

namespace tpack {

/// `base` changed by `over`: maps are merged key by key, everything else is replaced.
/// - A list goes after the one that is there with `!append`; `!delete` takes a key or an item away.
/// - A map over a component list changes the items that its keys name (`{conv0: {filters: 64}}`).
/// - One component (of an optimizer, say) is merged where it is the same and replaced where it is another.
/// - A section that can be written as a list alone may have its settings in one place and its list in another
///   (`{workers: 2}` over the list of a flow).
/// Both are whole configs of the type `structure`. Mistakes go to `errors`. The result has no tags.
ConfigNode merge(const ConfigNode& base, const ConfigNode& over, const FieldType& structure,
                 Diagnostics& errors);

}  // namespace tpack
