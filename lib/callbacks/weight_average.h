#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tensor/state.h"
#include "tensor/tensor.h"

namespace tpack {

/// A mean of several sets of variables; for integers, the newest value. Threads: one at a time.
class WeightAverage {
 public:
  /// The plain mean: m <- m + (x - m) / n.
  void add(const std::map<std::string, Tensor>& values) { add(values, 1 / static_cast<double>(count_ + 1)); }
  /// m <- m + rate * (x - m), in float64 for each element; the first one is copied.
  void add(const std::map<std::string, Tensor>& values, double rate);
  const std::map<std::string, Tensor>& values() const { return values_; }
  int64_t count() const { return count_; }

  void save(State& state) const;
  void load(const State& state);

 private:
  std::map<std::string, Tensor> values_;  // never written to, because copies share them
  int64_t count_ = 0;
};

}  // namespace tpack
