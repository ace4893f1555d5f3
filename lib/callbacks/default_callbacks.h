#pragma once

#include "core/config_node.h"

namespace tpack {

/// The callbacks that a run has after those of its config, unless `default_callbacks` says otherwise: a list
/// of component items.
ConfigNode default_callbacks();

}  // namespace tpack
