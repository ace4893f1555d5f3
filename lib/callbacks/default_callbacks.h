#pragma once

#include "core/config_node.h"

namespace tpack {

/// The callbacks after those of the config, unless `default_callbacks` changes them: a list of component
/// items.
ConfigNode default_callbacks();

}  // namespace tpack
