#pragma once

#include <cstdint>
#include <vector>

#include "tensor/tensor.h"

namespace tpack {

/// A histogram of the values of a tensor.
struct Histogram {
  double min = 0;
  double max = 0;
  double sum = 0;
  double sum_of_squares = 0;
  std::vector<double> limits = {};   // upper ends of the bins, ascending; the first bin begins at `min`
  std::vector<int64_t> counts = {};  // by bin
};

/// Has `bins` bins of equal width from the smallest to the largest value, or one if all are equal. NaN and
/// infinite values are ignored; without other values there are no bins.
Histogram histogram_of(const Tensor& values, int64_t bins = 30);

}  // namespace tpack
