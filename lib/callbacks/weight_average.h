#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tensor/state.h"
#include "tensor/tensor.h"

namespace tpack {

/// The plain mean of several sets of variables; of integers, the newest. Threads: one at a time.
class WeightAverage {
 public:
  /// m <- m + (x - m) / n, in float64 for each element.
  void add(const std::map<std::string, Tensor>& values);
  const std::map<std::string, Tensor>& values() const { return values_; }
  int64_t count() const { return count_; }

  void save(State& state) const;
  void load(const State& state);

 private:
  std::map<std::string, Tensor> values_;  // never written to once they are here: copies share them
  int64_t count_ = 0;
};

}  // namespace tpack
