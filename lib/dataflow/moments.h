#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "dataflow/data_flow.h"

namespace tpack {

/// Running mean and deviation of numbers. Source: Welford 1962.
struct Moments {
  int64_t count = 0;
  double mean = 0;
  double squares = 0;  // sum of (x - mean)^2

  /// NaN does not count.
  void add(double x) {
    if (std::isnan(x)) return;
    const double before = x - mean;
    mean += before / static_cast<double>(++count);
    squares += before * (x - mean);
  }
  /// Merges both. Source: Chan, Golub and LeVeque 1979.
  void add(const Moments& other) {
    if (other.count == 0) return;
    const auto own = static_cast<double>(count);
    const auto theirs = static_cast<double>(other.count);
    const double apart = other.mean - mean;
    count += other.count;
    mean += apart * theirs / (own + theirs);
    squares += other.squares + apart * apart * own * theirs / (own + theirs);
  }
  double deviation() const { return std::sqrt(squares / static_cast<double>(count)); }
};

/// False if the samples of a flow come only once, as from an agent, so they must not be read before training.
/// Prepares the flow.
bool may_look_at(const DataFlow& flow);

/// The moments of each of `columns` columns of a component, over the samples of a pass, for any batches: all
/// samples, or `most` of them, evenly spaced if the flow can be read at any place, else the first ones.
/// `value`: function applied to each number. Errors: ConfigError at the reference; those of DataFlow::prepare
/// and Cursor::next.
std::vector<Moments> moments_of(const DataFlow& flow, const ComponentRef& component, size_t columns,
                                int64_t most, const std::function<double(double)>& value = nullptr);

}  // namespace tpack
