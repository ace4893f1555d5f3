#pragma once

#include <cstddef>

namespace tpack::cpu::simd {

/// For each column of row-major x: sum[column] += the elements, squares[column] += their squares.
void add_moments(const float* x, size_t rows, size_t columns, double* sum, double* squares);

}  // namespace tpack::cpu::simd
