#pragma once

#include <cstdint>
#include <stop_token>

#include "tensor/tensor.h"

namespace tpack {

/// The largest eigenvalues of a symmetric matrix, in falling order, and their eigenvectors, of length 1. The
/// element of each vector with the largest absolute value is positive.
/// Shapes, float64: values [count], vectors [count, n].
struct EigenPairs {
  Tensor values;
  Tensor vectors;
};

/// Shapes: matrix float64 [n, n], symmetric; 1 <= count <= n. Time and memory: of all n pairs. Errors:
/// Diverged if the matrix has values that are not finite. Stopped at once after `stop` was requested: the
/// computation, which cannot be ended, goes on in a thread of its own, and nobody waits for it.
EigenPairs largest_eigenpairs(const Tensor& matrix, int64_t count, const std::stop_token& stop = {});

}  // namespace tpack
