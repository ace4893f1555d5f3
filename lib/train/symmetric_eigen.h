#pragma once

#include <cstdint>
#include <stop_token>

#include "tensor/tensor.h"

namespace tpack {

/// The largest eigenvalues of a symmetric matrix, in decreasing order, and their eigenvectors, of length 1.
/// The element of each vector with the largest absolute value is positive. Shapes, float64: values [count],
/// vectors [count, n].
struct EigenPairs {
  Tensor values;
  Tensor vectors;
};

/// Shapes: matrix float64 [n, n], symmetric; 1 <= count <= n. Up to half of the pairs of a large matrix are
/// computed by Lanczos' method, with time and memory only for these (16 pairs of n = 3072: 2 s), otherwise
/// all pairs. Errors: Diverged if the matrix has values that are not finite; Stopped if `stop` is requested,
/// unless all pairs are computed.
EigenPairs largest_eigenpairs(const Tensor& matrix, int64_t count, const std::stop_token& stop = {});
/// Bytes of memory besides the matrix.
uint64_t bytes_of_eigenpairs(int64_t n, int64_t count);

}  // namespace tpack
