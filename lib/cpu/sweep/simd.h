#pragma once

#include <cstddef>
#include <cstdint>

#include "graph/pointwise.h"

/// Loops over floats, compiled for several instruction sets; the CPU's best one is chosen at run time.
/// Lengths are in elements; pointers need no alignment. Results do not depend on the alignment.
namespace tpack::cpu::simd {

/// An operand that is the same for all elements, or has one value per element.
struct Vector {
  const float* data = nullptr;
  bool uniform = false;  // data[0] for all
};

/// out[i] = fn(a[i], b[i], c[i]). `out` may be one of the operands.
void apply(pointwise::Fn fn, Vector a, Vector b, Vector c, float* out, size_t n);

void fill(float value, float* out, size_t n);
/// sum[i] += x[i] and most[i] = max(most[i], x[i]), NaN if one of them is.
void add_to(const float* x, float* sum, size_t n);
void max_to(const float* x, float* most, size_t n);
/// Sum and maximum of n >= 1 elements, NaN if one of them is.
float sum(const float* x, size_t n);
float max(const float* x, size_t n);

void from_uint8(const uint8_t* x, float* out, size_t n);
void from_int32(const int32_t* x, float* out, size_t n);
void to_uint8(const float* x, uint8_t* out, size_t n);
void to_int32(const float* x, int32_t* out, size_t n);

/// Elements first..first+n-1 of a uniform draw (ops/random_uniform.h).
void uniform(uint64_t key, uint64_t first, float* out, size_t n);
/// The same of a normal draw (ops/random_normal.h).
void normal(uint64_t key, uint64_t first, float* out, size_t n);

/// "AVX3_SPR", "AVX2", ...: the instruction set in use.
const char* target();

}  // namespace tpack::cpu::simd
