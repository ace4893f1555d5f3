#pragma once

#include "core/config_node.h"

namespace tpack {

/// The components of a flow without the augmentors that give images another size: crops, resizes, pastes.
ConfigNode without_size_changes(const ConfigNode& components);

}  // namespace tpack
