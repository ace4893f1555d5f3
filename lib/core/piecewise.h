#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/field.h"

namespace tpack {

/// A number that changes at points of time (epochs or steps).
/// Threads: const. Source: tensorpack callbacks/param.py, ScheduledHyperParamSetter.
class Piecewise {
 public:
  enum class Interpolation : uint8_t {
    kNone,
    kLinear,
    kCosine,      // half a period of the cosine: slow near both points
    kExponential  // multiplies by the same factor each time; for values above 0
  };
  using Point = std::pair<int64_t, double>;

  /// Errors: ConfigError if there is no point, if a point is not later than the one before it, or if a value
  /// must have a logarithm but has none; `owner` is for the message.
  Piecewise(std::vector<Point> points, Interpolation interpolation, const std::string& owner);

  /// The value to set right after `time`: at a point, its value; between two points, the interpolated value;
  /// else nothing.
  std::optional<double> change_at(int64_t time) const;
  /// The value after `time`; nothing before the first point.
  std::optional<double> value_after(int64_t time) const;
  /// The interpolated value at any time; the first or last value outside.
  double at(double time) const;
  /// The points that have no effect in a run that ends at `end`.
  std::vector<Point> without_effect(int64_t end) const;

 private:
  double between(const Point& last, const Point& next, double time) const;

  std::vector<Point> points_;
  Interpolation interpolation_;
};

template <>
struct EnumNames<Piecewise::Interpolation> {
  static constexpr std::array<std::pair<const char*, Piecewise::Interpolation>, 4> kNames = {
      {{"none", Piecewise::Interpolation::kNone},
       {"linear", Piecewise::Interpolation::kLinear},
       {"cosine", Piecewise::Interpolation::kCosine},
       {"exponential", Piecewise::Interpolation::kExponential}}};
};

}  // namespace tpack
