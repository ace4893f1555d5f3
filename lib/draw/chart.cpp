#include "draw/chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>

namespace tpack {

AxisRange x_range(const Chart& chart) {
  double last = 0;
  for (const Series& series : chart.series) {
    for (const Series::Point& point : series.points) last = std::max(last, point.x);
  }
  return {0, last > 0 ? last : 1};
}

AxisRange y_range(const Chart& chart) {
  std::optional<AxisRange> range;
  for (const Series& series : chart.series) {
    for (const Series::Point& point : series.points) {
      if (!std::isfinite(point.y)) continue;
      if (!range) range = AxisRange{point.y, point.y};
      range->low = std::min(range->low, point.y);
      range->high = std::max(range->high, point.y);
    }
  }
  if (!range) return {};
  // Half of each, so that the difference of the largest numbers stays finite.
  double margin = 0.1 * (range->high / 2 - range->low / 2);
  if (margin == 0) margin = range->low == 0 ? 0.5 : 0.1 * std::abs(range->low);
  return {range->low - margin, range->high + margin};
}

std::vector<double> ticks(const AxisRange& range, int most) {
  const double least = (range.high - range.low) / most;
  const double power = std::pow(10, std::floor(std::log10(least)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (factor * power >= least * (1 - 1e-9)) step = factor * power;
  }
  std::vector<double> all;
  const double first = std::ceil(range.low / step - 1e-9);
  const double last = std::floor(range.high / step + 1e-9);
  for (double i = first; i <= last && all.size() <= static_cast<size_t>(most); ++i) {
    all.push_back(i == 0 ? 0 : i * step);
  }
  constexpr int kAlwaysRoom = 8;
  const bool tells_no_scale = all.size() < 2 && most < kAlwaysRoom;
  return tells_no_scale ? ticks(range, most + 1) : all;
}

std::string tick_label(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

}  // namespace tpack
