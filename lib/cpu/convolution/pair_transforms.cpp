#include "cpu/convolution/pair_transforms.h"

#include <immintrin.h>

namespace tpack::cpu::simd {
namespace {

[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] __m512 load_half(const std::byte* from) {
  const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}

/// y = B' x for one line of four.
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void transform_line(const __m512* x, int64_t step,
                                                                            __m512* y) {
  y[0] = _mm512_sub_ps(x[0], x[2 * step]);
  y[step] = _mm512_add_ps(x[step], x[2 * step]);
  y[2 * step] = _mm512_sub_ps(x[2 * step], x[step]);
  y[3 * step] = _mm512_sub_ps(x[step], x[3 * step]);
}

/// The four numbers G g of three.
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void transform_filter_line(const __m512* g,
                                                                                   int64_t step, __m512* u,
                                                                                   int64_t u_step) {
  const __m512 half = _mm512_set1_ps(0.5F);
  const __m512 ends = _mm512_add_ps(g[0], g[2 * step]);
  u[0] = g[0];
  u[u_step] = _mm512_mul_ps(half, _mm512_add_ps(ends, g[step]));
  u[2 * u_step] = _mm512_mul_ps(half, _mm512_sub_ps(ends, g[step]));
  u[3 * u_step] = g[2 * step];
}

[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void transform_filter(const float* from,
                                                                              __m512* points) {
  __m512 g[9];
  for (int64_t i = 0; i < 9; ++i) g[i] = _mm512_loadu_ps(from + i * kPairLanes);
  __m512 rows[12];  // 4 x 3
  for (int64_t j = 0; j < 3; ++j) transform_filter_line(g + j, 3, rows + j, 3);
  for (int64_t i = 0; i < 4; ++i) transform_filter_line(rows + 3 * i, 1, points + 4 * i, 1);
}

}  // namespace

[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void transform_patch(const PairImage& image,
                                                                             int64_t row, int64_t column,
                                                                             uint16_t* to,
                                                                             int64_t point_step) {
  __m512 x[16];
  const std::byte* first = image.data + row * image.row_step + column * image.pixel_step;
  if (row >= 0 && row + 4 <= image.height && column >= 0 && column + 4 <= image.width) {
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t j = 0; j < 4; ++j)
        x[4 * i + j] = load_half(first + i * image.row_step + j * image.pixel_step);
    }
  } else {
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t j = 0; j < 4; ++j) {
        const bool inside =
            row + i >= 0 && row + i < image.height && column + j >= 0 && column + j < image.width;
        x[4 * i + j] =
            inside ? load_half(first + i * image.row_step + j * image.pixel_step) : _mm512_setzero_ps();
      }
    }
  }
  __m512 y[16];
  for (int64_t j = 0; j < 4; ++j) transform_line(x + j, 4, y + j);
  for (int64_t i = 0; i < 4; ++i) transform_line(y + 4 * i, 1, x + 4 * i);
  for (int64_t i = 0; i < 16; ++i)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i * point_step),
                        reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x[i])));
}

[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void transform_filters(const float* even,
                                                                               const float* odd, uint32_t* to,
                                                                               int64_t point_step) {
  __m512 low[kPairPoints];
  __m512 high[kPairPoints];
  transform_filter(even, low);
  transform_filter(odd, high);
  for (int64_t i = 0; i < kPairPoints; ++i) {
    const __m512i lower = _mm512_cvtepu16_epi32(reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(low[i])));
    const __m512i upper = _mm512_cvtepu16_epi32(reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(high[i])));
    _mm512_storeu_si512(to + i * point_step, _mm512_or_si512(lower, _mm512_slli_epi32(upper, 16)));
  }
}

[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void store_tile(const float* sums, int64_t point_step,
                                                                        const float* bias, bool relu,
                                                                        const PairImage& image, int64_t row,
                                                                        int64_t column) {
  __m512 rows[8];  // 2 x 4
  for (int64_t j = 0; j < 4; ++j) {
    const __m512 a = _mm512_loadu_ps(sums + j * point_step);
    const __m512 b = _mm512_loadu_ps(sums + (4 + j) * point_step);
    const __m512 c = _mm512_loadu_ps(sums + (8 + j) * point_step);
    const __m512 d = _mm512_loadu_ps(sums + (12 + j) * point_step);
    rows[j] = _mm512_add_ps(_mm512_add_ps(a, b), c);
    rows[4 + j] = _mm512_sub_ps(_mm512_sub_ps(b, c), d);
  }
  const __m512 zero = _mm512_setzero_ps();
  const __m512 added = bias != nullptr ? _mm512_loadu_ps(bias) : zero;
  for (int64_t i = 0; i < kPairTile && row + i < image.height; ++i) {
    const __m512* line = rows + 4 * i;
    const __m512 results[kPairTile] = {_mm512_add_ps(_mm512_add_ps(line[0], line[1]), line[2]),
                                       _mm512_sub_ps(_mm512_sub_ps(line[1], line[2]), line[3])};
    for (int64_t j = 0; j < kPairTile && column + j < image.width; ++j) {
      __m512 y = _mm512_add_ps(results[j], added);
      if (relu) y = _mm512_max_ps(zero, y);
      std::byte* to = image.data + (row + i) * image.row_step + (column + j) * image.pixel_step;
      if (image.type == DType::kFloat32) {
        _mm512_storeu_ps(to, y);
      } else {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(y)));
      }
    }
  }
}

}  // namespace tpack::cpu::simd
