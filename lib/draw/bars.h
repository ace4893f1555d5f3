#pragma once

#include <string>
#include <vector>

namespace tpack {

/// A value with the interval that it may lie in.
struct Bar {
  std::string name;
  double value = 0;
  double low = 0;
  double high = 0;
};

/// Horizontal bars from zero on, one below the other, with lines for their intervals, as an SVG image. Values
/// are finite.
std::string svg_bars(const std::string& title, const std::vector<Bar>& bars);

}  // namespace tpack
