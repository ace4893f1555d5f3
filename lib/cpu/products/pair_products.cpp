#include "cpu/products/pair_products.h"

#include <algorithm>
#include <immintrin.h>

#include "cpu/sweep/vector_instructions.h"

namespace tpack::cpu::simd {
namespace {

/// With 8 rows of two vectors, each pair of `a` is loaded once for two instructions, and 16 sums hide their
/// latency of 6 cycles.
template <int kVectors, bool kAhead, bool kRowsApart>
// NOLINTNEXTLINE(readability-function-cognitive-complexity): sums stay in registers in one function only
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void add_products(const uint32_t* a,
                                                                          const uint32_t* b,
                                                                          const PairSteps& steps,
                                                                          float* sums) {
  __m512 sum[kPairRows][kVectors];
  for (auto& row : sum) std::fill_n(row, kVectors, _mm512_setzero_ps());
  const std::byte* first = steps.ahead[0];
  const std::byte* second = steps.ahead[1];
  int64_t image = 0;
  do {  // not `for`: GCC 12 would keep the sums in memory for the case of no steps
    int64_t row = 0;
    do {
      const uint32_t* x = a + image * steps.a.image + row * steps.a.row;
      const uint32_t* y = b + image * steps.b.image + row * steps.b.row;
      int64_t pixel = 0;
      do {
        __m512i columns[kVectors];
        for (int v = 0; v < kVectors; ++v) columns[v] = _mm512_loadu_si512(y + v * steps.b_vector);
        for (int r = 0; r < kPairRows; ++r) {
          const __m512i same = _mm512_set1_epi32(static_cast<int>(x[kRowsApart ? r * steps.a_row : r]));
          for (int v = 0; v < kVectors; ++v) {
            sum[r][v] = _mm512_dpbf16_ps(sum[r][v], reinterpret_cast<__m512bh>(same),
                                         reinterpret_cast<__m512bh>(columns[v]));
          }
        }
        x += steps.a.pixel;
        y += steps.b.pixel;
        if constexpr (kAhead) {
          _mm_prefetch(first, _MM_HINT_T0);
          _mm_prefetch(second, _MM_HINT_T0);
          first += steps.ahead_step;
          second += steps.ahead_step;
        }
      } while (++pixel < steps.pixels);
    } while (++row < steps.rows);
  } while (++image < steps.images);
  for (int r = 0; r < kPairRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      float* to = sums + (r * kVectors + v) * kPairLanes;
      _mm512_storeu_ps(to, steps.add ? _mm512_add_ps(_mm512_loadu_ps(to), sum[r][v]) : sum[r][v]);
    }
  }
}

[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] __mmask16 first_lanes(int64_t count) {
  return count >= kPairLanes ? __mmask16{0xFFFF}
                             : static_cast<__mmask16>((1U << std::max<int64_t>(count, 0)) - 1);
}

template <DType kType>
constexpr int64_t kBytes = kType == DType::kFloat32 ? 4 : 2;

/// 16 numbers of `low` as bfloat16, then 16 of `high`.
template <DType kType>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] __m512i load_two(const std::byte* low,
                                                                         __mmask16 low_lanes,
                                                                         const std::byte* high,
                                                                         __mmask16 high_lanes) {
  if constexpr (kType == DType::kFloat32) {
    return reinterpret_cast<__m512i>(
        _mm512_cvtne2ps_pbh(_mm512_maskz_loadu_ps(high_lanes, high), _mm512_maskz_loadu_ps(low_lanes, low)));
  } else {
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_maskz_loadu_epi16(low_lanes, low)),
                              _mm256_maskz_loadu_epi16(high_lanes, high), 1);
  }
}

template <DType kType>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void make_pairs(const PairSource& from, int64_t count,
                                                                        uint32_t* to, int64_t to_step) {
  const __mmask16 lanes = first_lanes(from.lanes);
  const std::byte* first = from.first;
  const std::byte* second = from.second != nullptr ? from.second : from.first;
  const __mmask16 of_second = from.second != nullptr ? lanes : __mmask16{0};
  const __m512i in_turn = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23,
                                           7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  for (int64_t i = 0; i < count; ++i) {
    const __m512i both = load_two<kType>(first, lanes, second, of_second);
    _mm512_storeu_si512(to, _mm512_permutexvar_epi16(in_turn, both));
    first += from.step;
    second += from.step;
    to += to_step;
  }
}

/// Transposes 16 rows of 16 numbers of 32 bits.
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void transpose(__m512i* x) {
  __m512i y[16];
  for (int i = 0; i < 16; i += 4) {  // within blocks of 4 x 4
    const __m512i a = _mm512_unpacklo_epi32(x[i], x[i + 1]);
    const __m512i b = _mm512_unpackhi_epi32(x[i], x[i + 1]);
    const __m512i c = _mm512_unpacklo_epi32(x[i + 2], x[i + 3]);
    const __m512i d = _mm512_unpackhi_epi32(x[i + 2], x[i + 3]);
    y[i] = _mm512_unpacklo_epi64(a, c);
    y[i + 1] = _mm512_unpackhi_epi64(a, c);
    y[i + 2] = _mm512_unpacklo_epi64(b, d);
    y[i + 3] = _mm512_unpackhi_epi64(b, d);
  }
  for (int i = 0; i < 4; ++i) {  // of these blocks
    const __m512i a = _mm512_shuffle_i32x4(y[i], y[i + 4], 0x88);
    const __m512i b = _mm512_shuffle_i32x4(y[i], y[i + 4], 0xDD);
    const __m512i c = _mm512_shuffle_i32x4(y[i + 8], y[i + 12], 0x88);
    const __m512i d = _mm512_shuffle_i32x4(y[i + 8], y[i + 12], 0xDD);
    x[i] = _mm512_shuffle_i32x4(a, c, 0x88);
    x[i + 8] = _mm512_shuffle_i32x4(a, c, 0xDD);
    x[i + 4] = _mm512_shuffle_i32x4(b, d, 0x88);
    x[i + 12] = _mm512_shuffle_i32x4(b, d, 0xDD);
  }
}

template <DType kType>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void transpose_pairs(const PairRows& from,
                                                                             uint32_t* to) {
  constexpr int64_t kNumbers = 2 * kPairLanes;
  for (int64_t begin = 0; begin < from.count; begin += kNumbers) {
    const int64_t count = std::min(kNumbers, from.count - begin);
    const __mmask16 low = first_lanes(count);
    const __mmask16 high = first_lanes(count - kPairLanes);
    __m512i x[kPairLanes];
    for (int64_t r = 0; r < kPairLanes; ++r) {
      const std::byte* row = from.data + r * from.step + begin * kBytes<kType>;
      x[r] = r < from.rows ? load_two<kType>(row, low, row + kPairLanes * kBytes<kType>, high)
                           : _mm512_setzero_si512();
    }
    transpose(x);
    for (int64_t pair = 0; pair < (count + 1) / 2; ++pair)
      _mm512_storeu_si512(to + pair * kPairLanes, x[pair]);
    to += kPairLanes * kPairLanes;
  }
}

}  // namespace

bool has_pair_products() {
  using Xbyak::util::Cpu;
  return processor().has(Cpu::tAVX512_BF16) && processor().has(Cpu::tAVX512BW) &&
         processor().has(Cpu::tAVX512VL);
}

void add_pair_products(const uint32_t* a, const uint32_t* b, const PairSteps& steps, float* sums) {
  const bool two = steps.vectors == 2;
  if (steps.a_row != 1) {
    two ? add_products<2, false, true>(a, b, steps, sums) : add_products<1, false, true>(a, b, steps, sums);
  } else if (steps.ahead[0] != nullptr) {
    two ? add_products<2, true, false>(a, b, steps, sums) : add_products<1, true, false>(a, b, steps, sums);
  } else {
    two ? add_products<2, false, false>(a, b, steps, sums) : add_products<1, false, false>(a, b, steps, sums);
  }
}

void make_pairs(const PairSource& from, int64_t count, uint32_t* to, int64_t to_step) {
  from.type == DType::kFloat32 ? make_pairs<DType::kFloat32>(from, count, to, to_step)
                               : make_pairs<DType::kBFloat16>(from, count, to, to_step);
}

void make_row_pairs(DType type, const std::byte* first, const std::byte* second, int64_t count, uint32_t* to,
                    int64_t to_step) {
  const auto step = kPairLanes * static_cast<int64_t>(size_of(type));
  const int64_t whole = count / kPairLanes;
  const int64_t rest = count % kPairLanes;
  make_pairs({type, first, second, step}, whole, to, to_step);
  if (rest == 0) return;
  const std::byte* last = second != nullptr ? second + whole * step : nullptr;
  make_pairs({type, first + whole * step, last, 0, rest}, 1, to + whole * to_step, 0);
}

void transpose_pairs(const PairRows& from, uint32_t* to) {
  from.type == DType::kFloat32 ? transpose_pairs<DType::kFloat32>(from, to)
                               : transpose_pairs<DType::kBFloat16>(from, to);
}

[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] void store_sums(const float* sums, int vectors,
                                                                        const PairResult& to) {
  for (int v = 0; v < vectors; ++v) {
    const __mmask16 lanes = first_lanes(to.columns - v * kPairLanes);
    const __m512 zero = _mm512_setzero_ps();
    const __m512 bias = to.bias != nullptr ? _mm512_maskz_loadu_ps(lanes, to.bias + v * kPairLanes) : zero;
    for (int64_t r = 0; r < to.rows; ++r) {
      __m512 y = _mm512_add_ps(_mm512_loadu_ps(sums + (r * vectors + v) * kPairLanes), bias);
      if (to.relu) y = _mm512_max_ps(zero, y);
      std::byte* row = to.data + r * to.step;
      if (to.type == DType::kFloat32) {
        _mm512_mask_storeu_ps(row + v * kPairLanes * 4, lanes, y);
      } else {
        _mm256_mask_storeu_epi16(row + v * kPairLanes * 2, lanes,
                                 reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(y)));
      }
    }
  }
}

}  // namespace tpack::cpu::simd
