#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tpack {

/// The durations of the last epochs. Threads: one at a time.
class EpochTimes {
 public:
  enum class Average : uint8_t { kMean, kMedian };
  EpochTimes(size_t count, Average average) : count_(count), average_(average) {}

  /// Keeps the newest `count`.
  void add(double seconds);
  /// The mean or median of the durations; 0 if there is none.
  double average() const;

 private:
  size_t count_;
  Average average_;
  std::vector<double> seconds_;  // oldest first
};

}  // namespace tpack
