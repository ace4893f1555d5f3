#pragma once

#include <cstdint>
#include <vector>

#include "search/setting.h"

namespace tpack {

constexpr size_t kMaxRuns = 10'000;  // of one search

/// Every combination of the values, the last setting changing fastest. Errors: ConfigError for a range, and
/// for more than kMaxRuns.
std::vector<SearchPoint> grid_points(const std::vector<SearchSetting>& settings);

/// `count` different points, drawn uniformly from the lists and ranges. The first n are the same for every
/// `count` >= n. Errors: ConfigError if there are fewer.
std::vector<SearchPoint> random_points(const std::vector<SearchSetting>& settings, size_t count,
                                       uint64_t seed);

}  // namespace tpack
