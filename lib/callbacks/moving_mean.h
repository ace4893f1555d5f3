#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tensor/state.h"

namespace tpack {

/// Exponential means of several numbers without the bias towards their initial zeros: m <- decay * m + (1 -
/// decay) * x, and value = m / (1 - decay^n) after n updates. Allocates nothing after construction. Threads:
/// one at a time. Source: Kingma and Ba 2014, section 3.
class MovingMean {
 public:
  MovingMean() = default;
  MovingMean(double decay, size_t count) : decay_(decay), powers_(count, 1), means_(count) {}

  /// Adds the next values; `value(i)` returns number i, or empty: then its mean does not change.
  template <class Value>
  void update(const Value& value) {
    for (size_t i = 0; i < means_.size(); ++i) {
      const std::optional<double> next = value(i);
      if (!next) continue;
      powers_[i] *= decay_;
      means_[i] = decay_ * means_[i] + (1 - decay_) * *next;
    }
  }
  bool has_value(size_t i) const { return powers_[i] != 1; }
  /// NaN before the first update.
  double value(size_t i) const { return means_[i] / (1 - powers_[i]); }
  size_t size() const { return means_.size(); }

  void save(State& state) const;
  /// Starts from zero if the state has no means, or means with a different size or decay.
  void load(const State& state);

 private:
  double decay_ = 0.95;
  std::vector<double> powers_;  // decay to the number of updates
  std::vector<double> means_;
};

}  // namespace tpack
