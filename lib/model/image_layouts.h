#pragma once

#include <functional>
#include <string>

#include "core/config_node.h"

namespace tpack {

/// The section with `layout: HWC` in each input without a layout that is fed images: components of the data
/// for which `is_image` is true are [height, width, channels].
ConfigNode with_image_layouts(const ConfigNode& section,
                              const std::function<bool(const std::string& component)>& is_image);

}  // namespace tpack
