#include "core/piecewise.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "core/text.h"

namespace tpack {
namespace {

/// "[[5, 0.1], [10, 0.01]]".
std::string in_order(std::vector<Piecewise::Point> points) {
  std::stable_sort(points.begin(), points.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> pairs;
  for (const auto& [time, value] : points)
    pairs.push_back("[" + std::to_string(time) + ", " + shortest(value) + "]");
  return "[" + join(pairs, ", ") + "]";
}

}  // namespace

Piecewise::Piecewise(std::vector<Point> points, Interpolation interpolation, const std::string& owner)
    : points_(std::move(points)), interpolation_(interpolation) {
  if (points_.empty())
    throw ConfigError(owner +
                      ": 'values' is empty; write at least one pair [time, value], such as [10, 0.01]");
  for (const auto& [time, value] : points_) {
    if (interpolation_ == Interpolation::kExponential && !(value > 0))
      throw ConfigError(owner + ": invalid pair [" + std::to_string(time) + ", " + shortest(value) +
                        "] in 'values': with `interp: exponential`, values must be above 0");
  }
  const auto not_later = std::adjacent_find(
      points_.begin(), points_.end(), [](const Point& a, const Point& b) { return a.first >= b.first; });
  if (not_later == points_.end()) return;
  const std::string before = std::to_string(not_later->first);
  const std::string after = std::to_string((not_later + 1)->first);
  if (before == after) throw ConfigError(owner + ": 'values' has two entries for " + before);
  throw ConfigError(owner + ": 'values' has " + after + " after " + before +
                    "; sort the points: " + in_order(points_));
}

std::optional<double> Piecewise::change_at(int64_t time) const {
  const bool outside = time < points_.front().first || time > points_.back().first;
  if (outside) return std::nullopt;
  const auto next =
      std::find_if(points_.begin(), points_.end(), [&](const Point& p) { return p.first >= time; });
  if (next->first == time) return next->second;
  if (interpolation_ == Interpolation::kNone) return std::nullopt;
  return between(*(next - 1), *next, static_cast<double>(time));
}

double Piecewise::between(const Point& last, const Point& next, double time) const {
  double part = (time - static_cast<double>(last.first)) / static_cast<double>(next.first - last.first);
  if (interpolation_ == Interpolation::kExponential)
    return last.second * std::pow(next.second / last.second, part);
  if (interpolation_ == Interpolation::kCosine) part = (1 - std::cos(std::numbers::pi * part)) / 2;
  return part * (next.second - last.second) + last.second;
}

double Piecewise::at(double time) const {
  const auto next = std::find_if(points_.begin(), points_.end(),
                                 [&](const Point& p) { return static_cast<double>(p.first) > time; });
  if (next == points_.begin()) return next->second;
  const Point& last = *(next - 1);
  const bool keeps = next == points_.end() || interpolation_ == Interpolation::kNone;
  return keeps ? last.second : between(last, *next, time);
}

std::optional<double> Piecewise::value_after(int64_t time) const {
  if (time < points_.front().first) return std::nullopt;
  if (const auto change = change_at(time)) return change;
  const auto next =
      std::find_if(points_.begin(), points_.end(), [&](const Point& p) { return p.first > time; });
  return (next - 1)->second;
}

std::vector<Piecewise::Point> Piecewise::without_effect(int64_t end) const {
  std::vector<Point> points;
  for (size_t i = 0; i < points_.size(); ++i) {
    // Between two points, the value moves towards the later one.
    const bool moves = i > 0 && interpolation_ != Interpolation::kNone;
    const int64_t begins = moves ? points_[i - 1].first + 1 : points_[i].first;
    if (begins >= end && end > 0) points.push_back(points_[i]);
  }
  return points;
}

}  // namespace tpack
