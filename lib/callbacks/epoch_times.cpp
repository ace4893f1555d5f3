#include "callbacks/epoch_times.h"

#include <algorithm>
#include <numeric>

namespace tpack {

void EpochTimes::add(double seconds) {
  if (seconds_.size() == count_) seconds_.erase(seconds_.begin());
  seconds_.push_back(seconds);
}

double EpochTimes::average() const {
  if (seconds_.empty()) return 0;
  const auto n = static_cast<double>(seconds_.size());
  if (average_ == Average::kMean) return std::accumulate(seconds_.begin(), seconds_.end(), 0.0) / n;
  std::vector<double> sorted = seconds_;
  std::sort(sorted.begin(), sorted.end());
  const size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

}  // namespace tpack
