#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

/// Products of bfloat16 numbers, two at a time, summed in float32: `vdpbf16ps` of AVX512-BF16 adds a0 b0 + a1
/// b1 to each of 16 sums. A pair is 32 bits: the number of the lower index in the lower half. The functions
/// may be called only if has_pair_products(). Threads: any number at the same time.
namespace tpack::cpu::simd {

bool has_pair_products();

/// A block of sums has this many rows, and one or two vectors of columns.
inline constexpr int64_t kPairRows = 8;
inline constexpr int64_t kPairLanes = 16;  // of a vector
inline constexpr int kPairVectors = 2;

/// Pairs from one index to the next one.
struct PairStrides {
  int64_t image = 0;
  int64_t row = 0;
  int64_t pixel = 0;
};

/// The indices that are summed over, at least one of each, and where the pairs of each are: kPairRows of `a`,
/// one `a_row` after the other, and `vectors` vectors of `b`, one `b_vector` after the other.
struct PairSteps {
  int64_t images = 1;
  int64_t rows = 1;
  int64_t pixels = 1;
  PairStrides a;
  PairStrides b;
  int vectors = kPairVectors;  // 1 or 2
  bool add = true;             // to the sums; otherwise they are replaced
  int64_t a_row = 1;
  int64_t b_vector = 0;
  // What to bring to the caches meanwhile, unless it is null: two pieces of memory,
  // `ahead_step` bytes of each at each step.
  const std::byte* ahead[2] = {nullptr, nullptr};
  int64_t ahead_step = 0;
};

/// sums[row][vector][lane] (+)= sum of a[step][row] b[step][vector][lane].
void add_pair_products(const uint32_t* a, const uint32_t* b, const PairSteps& steps, float* sums);

// Numbers from which pairs are made are bfloat16, or float32, which is rounded; so are results. Steps are in
// bytes.

/// Rows of up to 16 numbers; pair i is made of first[i] and second[i].
struct PairSource {
  DType type = DType::kBFloat16;
  const std::byte* first = nullptr;
  const std::byte* second = nullptr;  // null: zeros
  int64_t step = 0;                   // from one row to the next
  int64_t lanes = kPairLanes;         // numbers in a row; the other pairs are zero
};

/// Writes `count` rows of 16 pairs, each row `to_step` pairs after the one before.
void make_pairs(const PairSource& from, int64_t count, uint32_t* to, int64_t to_step);

/// Pairs of two rows of `count` numbers (`second` may be null: zeros): 16 at a time, each time `to_step`
/// pairs after those before.
void make_row_pairs(DType type, const std::byte* first, const std::byte* second, int64_t count, uint32_t* to,
                    int64_t to_step);

/// Up to 16 rows of `count` numbers, which are paired within a row.
struct PairRows {
  DType type = DType::kBFloat16;
  const std::byte* data = nullptr;
  int64_t step = 0;  // from one row to the next
  int64_t rows = kPairLanes;
  int64_t count = 0;
};

/// Writes ceil(count / 2) rows of 16 pairs, one of each row of `from`; missing numbers are zero.
void transpose_pairs(const PairRows& from, uint32_t* to);

/// A block of sums as a part of a matrix of bfloat16 or float32.
struct PairResult {
  DType type = DType::kFloat32;
  std::byte* data = nullptr;
  int64_t step = 0;  // from one row to the next, in bytes
  int64_t rows = kPairRows;
  int64_t columns = 0;          // at most those of the sums
  const float* bias = nullptr;  // of the columns; may be null
  bool relu = false;            // max(y, 0); NaN stays NaN
};
void store_sums(const float* sums, int vectors, const PairResult& to);

}  // namespace tpack::cpu::simd
