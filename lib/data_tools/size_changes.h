#pragma once

#include "core/config_node.h"

namespace tpack {

/// The components of a flow without augmentors that change the size of images: crops, resizes, pastes.
ConfigNode without_size_changes(const ConfigNode& components);

}  // namespace tpack
