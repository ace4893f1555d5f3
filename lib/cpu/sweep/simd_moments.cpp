#include "cpu/sweep/simd_moments.h"

// Highway needs its own order of includes.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/sweep/simd_moments.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
// NOLINTBEGIN(readability-identifier-naming): named apart from the functions that dispatch to them
namespace tpack::cpu::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;

/// kVectors vectors of columns side by side, whose sums stay in registers.
template <size_t kVectors>
HWY_INLINE HWY_ATTR void add_columns(const float* x, size_t rows, size_t columns, double* sum,
                                     double* squares) {
  const Doubles d;
  const hn::Rebind<float, Doubles> narrow;
  hn::Vec<Doubles> sums[kVectors];
  hn::Vec<Doubles> of_squares[kVectors];
  for (size_t v = 0; v < kVectors; ++v) {
    sums[v] = hn::LoadU(d, sum + v * hn::Lanes(d));
    of_squares[v] = hn::LoadU(d, squares + v * hn::Lanes(d));
  }
  for (size_t row = 0; row < rows; ++row) {
    for (size_t v = 0; v < kVectors; ++v) {
      const hn::Vec<Doubles> value =
          hn::PromoteTo(d, hn::LoadU(narrow, x + row * columns + v * hn::Lanes(d)));
      sums[v] = hn::Add(sums[v], value);
      of_squares[v] = hn::MulAdd(value, value, of_squares[v]);
    }
  }
  for (size_t v = 0; v < kVectors; ++v) {
    hn::StoreU(sums[v], d, sum + v * hn::Lanes(d));
    hn::StoreU(of_squares[v], d, squares + v * hn::Lanes(d));
  }
}

HWY_ATTR void add_rows(const float* x, size_t rows, size_t columns, double* sum, double* squares) {
  const size_t lanes = hn::Lanes(Doubles());
  size_t at = 0;
  for (; at + 4 * lanes <= columns; at += 4 * lanes)
    add_columns<4>(x + at, rows, columns, sum + at, squares + at);
  for (; at + lanes <= columns; at += lanes) add_columns<1>(x + at, rows, columns, sum + at, squares + at);
  for (; at < columns; ++at) {
    for (size_t row = 0; row < rows; ++row) {
      const auto value = static_cast<double>(x[row * columns + at]);
      sum[at] += value;
      squares[at] += value * value;
    }
  }
}

/// Rows of few columns are added side by side, as rows of many.
void AddMoments(const float* x, size_t rows, size_t columns, double* sum, double* squares) {
  constexpr size_t kColumns = 64;
  const size_t together = HWY_MIN(rows, kColumns / columns);
  if (together > 1) {
    double sums[kColumns] = {};
    double of_squares[kColumns] = {};
    add_rows(x, rows / together, together * columns, sums, of_squares);
    for (size_t i = 0; i < together * columns; ++i) {
      sum[i % columns] += sums[i];
      squares[i % columns] += of_squares[i];
    }
    x += rows / together * together * columns;
    rows %= together;
  }
  add_rows(x, rows, columns, sum, squares);
}

}  // namespace tpack::cpu::simd::HWY_NAMESPACE
// NOLINTEND(readability-identifier-naming)
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tpack::cpu::simd {

HWY_EXPORT(AddMoments);

void add_moments(const float* x, size_t rows, size_t columns, double* sum, double* squares) {
  HWY_DYNAMIC_DISPATCH(AddMoments)(x, rows, columns, sum, squares);
}

}  // namespace tpack::cpu::simd
#endif
