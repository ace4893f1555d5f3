#pragma once

#include <string>
#include <vector>

#include "draw/chart.h"

namespace tpack {

/// The charts side by side as an SVG image: legend, curves, axes with numbers. Self-contained, without a
/// background, in colors that are readable on light and dark pages.
std::string svg_charts(const std::vector<Chart>& charts);

}  // namespace tpack
