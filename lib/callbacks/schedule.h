#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tpack {

/// A number that changes at points of time (epochs or steps).
/// Threads: const. Source: tensorpack callbacks/param.py, ScheduledHyperParamSetter.
class Schedule {
 public:
  enum class Interpolation : uint8_t { kNone, kLinear };
  using Point = std::pair<int64_t, double>;

  /// Sorts the points. Errors: ConfigError where there is none or two are at one time; `owner` is for the
  /// message.
  Schedule(std::vector<Point> points, Interpolation interpolation, const std::string& owner);

  /// The value to be set right after `time`: at a point its value; between two points what the interpolation
  /// says; nothing otherwise.
  std::optional<double> change_at(int64_t time) const;
  /// The value that holds once `time` is over; nothing before the first point.
  std::optional<double> value_after(int64_t time) const;

 private:
  std::vector<Point> points_;
  Interpolation interpolation_;
};

}  // namespace tpack
