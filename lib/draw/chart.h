#pragma once

#include <string>
#include <vector>

namespace tpack {

/// A curve. A y that is NaN or infinite is a gap in it.
struct Series {
  struct Point {
    double x = 0;
    double y = 0;
  };
  std::string name;
  std::vector<Point> points;
};

/// Curves over the same axes.
struct Chart {
  std::vector<Series> series;
  std::string x_label;
};

struct AxisRange {
  double low = 0;
  double high = 1;

  /// The position of `value`: 0 at the low end, 1 at the high end.
  double part(double value) const { return (value - low) / (high - low); }
};

/// From 0 to the largest x; never empty.
AxisRange x_range(const Chart& chart);
/// Contains every finite y, with a margin; never empty.
AxisRange y_range(const Chart& chart);
/// Round numbers (1, 2 or 5 times a power of ten) in the range, evenly spaced, `most` at most.
std::vector<double> ticks(const AxisRange& range, int most);
/// "0.25", "1e-05", "1500".
std::string tick_label(double value);

}  // namespace tpack
