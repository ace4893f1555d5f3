#pragma once

#include <string>
#include <vector>

namespace tpack {

/// A value with its interval.
struct Bar {
  std::string name;
  double value = 0;
  double low = 0;
  double high = 0;
};

/// Horizontal bars that start at zero, one below the other, with lines for their intervals, as an SVG image.
/// Values are finite.
std::string svg_bars(const std::string& title, const std::vector<Bar>& bars);

}  // namespace tpack
