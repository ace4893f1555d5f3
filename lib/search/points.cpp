#include "search/points.h"

#include <memory>
#include <set>

namespace tpack {
namespace {

std::string draw_value(const SearchSetting& setting, Rng& rng) {
  if (setting.range) return setting.range->draw(rng);
  return setting.values[rng.below(static_cast<uint32_t>(setting.values.size()))];
}

}  // namespace

std::vector<SearchPoint> grid_points(const std::vector<SearchSetting>& settings) {
  std::vector<SearchPoint> points = {{}};
  for (const SearchSetting& setting : settings) {
    if (!setting.is_searched()) continue;
    if (setting.range)
      throw ConfigError({std::make_shared<const std::string>("--set " + setting.key), 0, 0},
                        "a grid needs values, not a range; write a list such as [1, 2], or add --trials N "
                        "and --search random or halving");
    std::vector<SearchPoint> longer;
    for (const SearchPoint& point : points) {
      for (const std::string& value : setting.values) {
        longer.push_back(point);
        longer.back().push_back(value);
      }
      if (longer.size() > kMaxRuns)
        throw ConfigError("the grid has more than " + std::to_string(kMaxRuns) +
                          " runs; write fewer values, or use --search random --trials N");
    }
    points = std::move(longer);
  }
  return points;
}

std::vector<SearchPoint> random_points(const std::vector<SearchSetting>& settings, size_t count,
                                       uint64_t seed) {
  constexpr int kMaxDraws = 10'000;  // without a new point: then there is probably no other
  Rng rng(seed);
  std::vector<SearchPoint> points;
  std::set<SearchPoint> seen;
  for (int draws = 0; points.size() < count;) {
    SearchPoint point;
    for (const SearchSetting& setting : settings)
      if (setting.is_searched()) point.push_back(draw_value(setting, rng));
    if (seen.insert(point).second) {
      points.push_back(std::move(point));
      draws = 0;
    } else if (++draws == kMaxDraws) {
      throw ConfigError("--trials " + std::to_string(count) + ": the settings have only " +
                        std::to_string(points.size()) + " different combinations; lower it");
    }
  }
  return points;
}

}  // namespace tpack
