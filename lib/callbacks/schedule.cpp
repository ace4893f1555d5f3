#include "callbacks/schedule.h"

#include <algorithm>

#include "core/error.h"

namespace tpack {

Schedule::Schedule(std::vector<Point> points, Interpolation interpolation, const std::string& owner)
    : points_(std::move(points)), interpolation_(interpolation) {
  if (points_.empty())
    throw ConfigError(owner +
                      ": 'values' is empty; give at least one pair [time, value], such as [10, 0.01]");
  std::stable_sort(points_.begin(), points_.end(),
                   [](const Point& a, const Point& b) { return a.first < b.first; });
  for (size_t i = 1; i < points_.size(); ++i) {
    if (points_[i].first == points_[i - 1].first)
      throw ConfigError(owner + ": 'values' has two entries for " + std::to_string(points_[i].first));
  }
}

std::optional<double> Schedule::change_at(int64_t time) const {
  const bool outside = time < points_.front().first || time > points_.back().first;
  if (outside) return std::nullopt;
  const auto next =
      std::find_if(points_.begin(), points_.end(), [&](const Point& p) { return p.first >= time; });
  if (next->first == time) return next->second;
  if (interpolation_ == Interpolation::kNone) return std::nullopt;
  const Point& last = *(next - 1);
  const double part = static_cast<double>(time - last.first) / static_cast<double>(next->first - last.first);
  return part * (next->second - last.second) + last.second;
}

std::optional<double> Schedule::value_after(int64_t time) const {
  if (time < points_.front().first) return std::nullopt;
  if (const auto change = change_at(time)) return change;
  const auto next =
      std::find_if(points_.begin(), points_.end(), [&](const Point& p) { return p.first > time; });
  return (next - 1)->second;
}

}  // namespace tpack
