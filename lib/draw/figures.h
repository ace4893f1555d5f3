#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace tpack {

/// The middle one of the values, of an even number the upper one of the two. Not empty.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// "12.30" for two digits after the point.
inline std::string fixed(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

}  // namespace tpack
