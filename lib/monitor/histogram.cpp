#include "monitor/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tpack {
namespace {

template <class T>
Histogram histogram(std::span<const T> values, int64_t bins) {
  Histogram all;
  all.min = std::numeric_limits<double>::infinity();
  all.max = -all.min;
  for (const T value : values) {
    const auto x = static_cast<double>(value);
    if (!std::isfinite(x)) continue;
    all.min = std::min(all.min, x);
    all.max = std::max(all.max, x);
    all.sum += x;
    all.sum_of_squares += x * x;
  }
  if (all.min > all.max) return {};
  if (all.min == all.max) bins = 1;
  const double width = (all.max - all.min) / static_cast<double>(bins);
  all.counts.assign(static_cast<size_t>(bins), 0);
  for (int64_t i = 1; i < bins; ++i) all.limits.push_back(all.min + static_cast<double>(i) * width);
  all.limits.push_back(all.max);
  for (const T value : values) {
    const auto x = static_cast<double>(value);
    if (!std::isfinite(x)) continue;
    const auto bin = width > 0 ? static_cast<int64_t>((x - all.min) / width) : 0;
    ++all.counts[static_cast<size_t>(std::clamp<int64_t>(bin, 0, bins - 1))];
  }
  return all;
}

}  // namespace

Histogram histogram_of(const Tensor& values, int64_t bins) {
  return visit(values.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return histogram<T>(values.span<T>(), bins);
  });
}

}  // namespace tpack
