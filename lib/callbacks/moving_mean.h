#pragma once

#include <string>
#include <vector>

#include "train/state.h"

namespace tpack {

/// Exponential means of several numbers without the bias towards the zeros they begin with:
/// m <- decay * m + (1 - decay) * x, and value = m / (1 - decay^n) after n updates. Allocates nothing after
/// it was made. Threads: one at a time. Source: Kingma and Ba 2014, section 3.
class MovingMean {
 public:
  MovingMean() = default;
  MovingMean(double decay, size_t count) : decay_(decay), means_(count) {}

  /// Takes the next values; `value(i)` gives that of number i.
  template <class Value>
  void update(const Value& value) {
    power_ *= decay_;
    for (size_t i = 0; i < means_.size(); ++i)
      means_[i] = decay_ * means_[i] + (1 - decay_) * static_cast<double>(value(i));
  }
  /// NaN before the first update.
  double value(size_t i) const { return means_[i] / (1 - power_); }
  bool empty() const { return power_ == 1; }
  size_t size() const { return means_.size(); }

  void save(State& state) const;
  /// Starts from zero if the state has no means, or those of another size or decay.
  void load(const State& state);

 private:
  double decay_ = 0.95;
  double power_ = 1;  // decay to the number of updates
  std::vector<double> means_;
};

}  // namespace tpack
