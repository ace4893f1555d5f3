#include "cpu/convolution/simd_winograd.h"

// Highway needs its own order of includes.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/convolution/simd_winograd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tensor/half_vectors.inl.h"
// clang-format on

#include <algorithm>

HWY_BEFORE_NAMESPACE();
// NOLINTBEGIN(readability-identifier-naming): named apart from the functions that dispatch to them
namespace tpack::cpu::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using tpack::HWY_NAMESPACE::load_floats;
using tpack::HWY_NAMESPACE::store_floats;

constexpr int64_t kBlock = 16;

using F = hn::CappedTag<float, 16>;
using V = hn::Vec<F>;

/// The part of a patch or tile that is inside the image.
struct Span {
  int64_t begin;
  int64_t end;
};
HWY_INLINE Span inside(int64_t at, int64_t size, int64_t limit) {
  return {std::clamp<int64_t>(-at, 0, size), std::clamp<int64_t>(limit - at, 0, size)};
}

/// The position of a tile's element (0, 0); it may be outside the image.
struct Corner {
  int64_t image, y, x;
};
HWY_INLINE Corner corner(const WinogradImages& s, int64_t tile) {
  const int64_t inner = tile % s.tiles();
  return {tile / s.tiles(), inner / s.tiles_across * kWinogradTile - s.top,
          inner % s.tiles_across * kWinogradTile - s.left};
}
/// Offset of (y, x) in a block of channels; of the corner it may be negative.
HWY_INLINE int64_t offset(const WinogradImages& s, const Corner& at, int64_t block) {
  return (((at.image * (s.channels / kBlock) + block) * s.height + at.y) * s.width + at.x) * kBlock;
}

// Polynomials are evaluated at 0, +-a, +-b and infinity. With 5/8 and 3/2 instead of the textbook's 1 and 2,
// the rounding errors are a third, and the squares are exact. The one-dimensional maps below go from a column
// of `in` to a column of `out`, whose elements are a step apart.
constexpr float kA = 0.625F;
constexpr float kB = 1.5F;
constexpr float kA2 = kA * kA;
constexpr float kB2 = kB * kB;
constexpr float kAtZero = 1 / (kA2 * kB2);  // one over the products of differences of points
constexpr float kAtA = 1 / (2 * kA2 * (kA2 - kB2));
constexpr float kAtB = 1 / (2 * kB2 * (kB2 - kA2));

HWY_INLINE HWY_ATTR void input_map(F d, const V* in, V* out) {
  const V product = hn::Set(d, kA2 * kB2);
  const V sum = hn::Set(d, kA2 + kB2);
  const V a2 = hn::Set(d, kA2);
  const V b2 = hn::Set(d, kB2);
  const V even_a = hn::NegMulAdd(b2, in[2], in[4]);
  const V odd_a = hn::Mul(hn::Set(d, kA), hn::NegMulAdd(b2, in[1], in[3]));
  const V even_b = hn::NegMulAdd(a2, in[2], in[4]);
  const V odd_b = hn::Mul(hn::Set(d, kB), hn::NegMulAdd(a2, in[1], in[3]));
  out[0] = hn::MulAdd(product, in[0], hn::NegMulAdd(sum, in[2], in[4]));
  out[1] = hn::Add(even_a, odd_a);
  out[2] = hn::Sub(even_a, odd_a);
  out[3] = hn::Add(even_b, odd_b);
  out[4] = hn::Sub(even_b, odd_b);
  out[5] = hn::MulAdd(product, in[1], hn::NegMulAdd(sum, in[3], in[5]));
}

HWY_INLINE HWY_ATTR void gradient_map(F d, const V* in, V* out) {
  const V a2 = hn::Set(d, kA2);
  const V b2 = hn::Set(d, kB2);
  const V even_a = hn::MulAdd(a2, in[2], in[0]);
  const V odd_a = hn::Mul(hn::Set(d, kA), hn::MulAdd(a2, in[3], in[1]));
  const V even_b = hn::MulAdd(b2, in[2], in[0]);
  const V odd_b = hn::Mul(hn::Set(d, kB), hn::MulAdd(b2, in[3], in[1]));
  out[0] = in[0];
  out[1] = hn::Add(even_a, odd_a);
  out[2] = hn::Sub(even_a, odd_a);
  out[3] = hn::Add(even_b, odd_b);
  out[4] = hn::Sub(even_b, odd_b);
  out[5] = in[3];
}

HWY_INLINE HWY_ATTR void output_map(F d, const V* in, V* out) {
  const V sum_a = hn::Add(in[1], in[2]);
  const V difference_a = hn::Sub(in[1], in[2]);
  const V sum_b = hn::Add(in[3], in[4]);
  const V difference_b = hn::Sub(in[3], in[4]);
  out[0] = hn::Add(hn::Add(in[0], sum_a), sum_b);
  out[1] = hn::MulAdd(hn::Set(d, kA), difference_a, hn::Mul(hn::Set(d, kB), difference_b));
  out[2] = hn::MulAdd(hn::Set(d, kA2), sum_a, hn::Mul(hn::Set(d, kB2), sum_b));
  out[3] =
      hn::MulAdd(hn::Set(d, kA * kA2), difference_a, hn::MulAdd(hn::Set(d, kB * kB2), difference_b, in[5]));
}

HWY_INLINE HWY_ATTR void filter_map(F d, const V* in, size_t in_step, V* out, size_t out_step) {
  const V even_a = hn::Mul(hn::Set(d, kAtA), hn::MulAdd(hn::Set(d, kA2), in[2 * in_step], in[0]));
  const V odd_a = hn::Mul(hn::Set(d, kAtA * kA), in[in_step]);
  const V even_b = hn::Mul(hn::Set(d, kAtB), hn::MulAdd(hn::Set(d, kB2), in[2 * in_step], in[0]));
  const V odd_b = hn::Mul(hn::Set(d, kAtB * kB), in[in_step]);
  out[0] = hn::Mul(hn::Set(d, kAtZero), in[0]);
  out[1 * out_step] = hn::Add(even_a, odd_a);
  out[2 * out_step] = hn::Sub(even_a, odd_a);
  out[3 * out_step] = hn::Add(even_b, odd_b);
  out[4 * out_step] = hn::Sub(even_b, odd_b);
  out[5 * out_step] = in[2 * in_step];
}

HWY_INLINE HWY_ATTR void filter_gradient_map(F d, const V* in, V* out, size_t out_step) {
  const V sum_a = hn::Mul(hn::Set(d, kAtA), hn::Add(in[1], in[2]));
  const V difference_a = hn::Mul(hn::Set(d, kAtA * kA), hn::Sub(in[1], in[2]));
  const V sum_b = hn::Mul(hn::Set(d, kAtB), hn::Add(in[3], in[4]));
  const V difference_b = hn::Mul(hn::Set(d, kAtB * kB), hn::Sub(in[3], in[4]));
  out[0] = hn::MulAdd(hn::Set(d, kAtZero), in[0], hn::Add(sum_a, sum_b));
  out[1 * out_step] = hn::Add(difference_a, difference_b);
  out[2 * out_step] = hn::MulAdd(hn::Set(d, kA2), sum_a, hn::MulAdd(hn::Set(d, kB2), sum_b, in[5]));
}

/// Reads kSize x kSize elements (zeros outside the image), maps columns, then rows, and writes the 36 points.
template <size_t kSize, class T, class Map>
HWY_INLINE HWY_ATTR void transform(const T* images, const WinogradImages& s, const WinogradTiles& tiles,
                                   float* to, const Map& map) {
  const F d;
  constexpr size_t kPatch = kWinogradPatch;
  for (int64_t t = 0; t < tiles.count; ++t) {
    const Corner at = corner(s, tiles.first + t);
    const Span rows = inside(at.y, kSize, s.height);
    const Span columns = inside(at.x, kSize, s.width);
    for (int64_t channel = 0; channel < s.channels; channel += static_cast<int64_t>(hn::Lanes(d))) {
      const T* from = images + offset(s, at, channel / kBlock) + channel % kBlock;
      V v[kPatch * kPatch];
      for (int64_t x = 0; x < static_cast<int64_t>(kSize); ++x) {
        const bool column = x >= columns.begin && x < columns.end;
        V in[kPatch];
        for (int64_t y = 0; y < static_cast<int64_t>(kSize); ++y) {
          in[y] = column && y >= rows.begin && y < rows.end
                      ? load_floats(d, from + (y * s.width + x) * kBlock)
                      : hn::Zero(d);
        }
        V out[kPatch];
        map(d, in, out);
        for (size_t y = 0; y < kPatch; ++y) v[y * kPatch + static_cast<size_t>(x)] = out[y];
      }
      float* point = to + t * s.channels + channel;
      for (size_t y = 0; y < kPatch; ++y) {
        V out[kPatch];
        map(d, v + y * kPatch, out);
        for (size_t x = 0; x < kPatch; ++x, point += tiles.stride) hn::StoreU(out[x], d, point);
      }
    }
  }
}

template <class T>
void input(const T* images, const WinogradImages& s, const WinogradTiles& tiles, float* to) {
  transform<kWinogradPatch>(images, s, tiles, to,
                            [](F d, const V* in, V* out) HWY_ATTR { input_map(d, in, out); });
}

template <class T>
void gradient(const T* images, const WinogradImages& s, const WinogradTiles& tiles, float* to) {
  transform<kWinogradTile>(images, s, tiles, to,
                           [](F d, const V* in, V* out) HWY_ATTR { gradient_map(d, in, out); });
}

template <class T>
void output(const float* from, const WinogradImages& s, const WinogradTiles& tiles, const float* bias,
            bool relu, T* images) {
  const F d;
  constexpr size_t kPatch = kWinogradPatch;
  for (int64_t t = 0; t < tiles.count; ++t) {
    const Corner at = corner(s, tiles.first + t);
    const int64_t rows = std::min(kWinogradTile, s.height - at.y);
    const int64_t columns = std::min(kWinogradTile, s.width - at.x);
    for (int64_t channel = 0; channel < s.channels; channel += static_cast<int64_t>(hn::Lanes(d))) {
      const float* point = from + t * s.channels + channel;
      V v[kWinogradTile * kPatch];
      for (size_t x = 0; x < kPatch; ++x) {
        V in[kPatch];
        for (size_t y = 0; y < kPatch; ++y)
          in[y] = hn::LoadU(d, point + static_cast<int64_t>(y * kPatch + x) * tiles.stride);
        V out[kWinogradTile];
        output_map(d, in, out);
        for (size_t y = 0; y < kWinogradTile; ++y) v[y * kPatch + x] = out[y];
      }
      const V shift = bias == nullptr ? hn::Zero(d) : hn::LoadU(d, bias + channel);
      T* to = images + offset(s, at, channel / kBlock) + channel % kBlock;
      for (int64_t y = 0; y < rows; ++y) {
        V out[kWinogradTile];
        output_map(d, v + static_cast<size_t>(y) * kPatch, out);
        for (int64_t x = 0; x < columns; ++x) {
          const V sum = hn::Add(out[x], shift);
          // For NaN, x86's Max gives the second operand.
          store_floats(d, relu ? hn::Max(hn::Zero(d), sum) : sum, to + (y * s.width + x) * kBlock);
        }
      }
    }
  }
}

void Input(DType type, const std::byte* images, const WinogradImages& s, const WinogradTiles& tiles,
           float* to) {
  if (type == DType::kBFloat16) return input(reinterpret_cast<const BFloat16*>(images), s, tiles, to);
  input(reinterpret_cast<const float*>(images), s, tiles, to);
}
void Gradient(DType type, const std::byte* images, const WinogradImages& s, const WinogradTiles& tiles,
              float* to) {
  if (type == DType::kBFloat16) return gradient(reinterpret_cast<const BFloat16*>(images), s, tiles, to);
  gradient(reinterpret_cast<const float*>(images), s, tiles, to);
}
void Output(const float* from, const WinogradImages& s, const WinogradTiles& tiles, const float* bias,
            bool relu, DType type, std::byte* images) {
  if (type == DType::kBFloat16)
    return output(from, s, tiles, bias, relu, reinterpret_cast<BFloat16*>(images));
  output(from, s, tiles, bias, relu, reinterpret_cast<float*>(images));
}

void Filter(const float* filter, int64_t stride, float* to) {
  const F d;
  for (int64_t lane = 0; lane < kBlock; lane += static_cast<int64_t>(hn::Lanes(d))) {
    V in[9];
    for (int64_t i = 0; i < 9; ++i) in[i] = hn::LoadU(d, filter + i * kBlock + lane);
    V v[18];
    for (size_t x = 0; x < 3; ++x) filter_map(d, in + x, 3, v + x, 3);
    for (int64_t y = 0; y < kWinogradPatch; ++y) {
      V out[kWinogradPatch];
      filter_map(d, v + y * 3, 1, out, 1);
      for (int64_t x = 0; x < kWinogradPatch; ++x)
        hn::StoreU(out[x], d, to + (y * kWinogradPatch + x) * stride + lane);
    }
  }
}

void FilterGradient(const float* from, int64_t stride, float* filter) {
  const F d;
  for (int64_t lane = 0; lane < kBlock; lane += static_cast<int64_t>(hn::Lanes(d))) {
    V v[18];
    for (int64_t x = 0; x < kWinogradPatch; ++x) {
      V in[kWinogradPatch];
      for (int64_t y = 0; y < kWinogradPatch; ++y)
        in[y] = hn::LoadU(d, from + (y * kWinogradPatch + x) * stride + lane);
      filter_gradient_map(d, in, v + x, kWinogradPatch);
    }
    for (int64_t y = 0; y < 3; ++y) {
      V out[3];
      filter_gradient_map(d, v + y * kWinogradPatch, out, 1);
      for (int64_t x = 0; x < 3; ++x) hn::StoreU(out[x], d, filter + (y * 3 + x) * kBlock + lane);
    }
  }
}

/// kRows rows of kVectors vectors in registers, along the inner axis.
template <size_t kRows, size_t kVectors>
HWY_ATTR void product(const WinogradProduct& p, const float* a, const float* b, float* c) {
  const F d;
  const size_t lanes = hn::Lanes(d);
  V sum[kRows][kVectors];
  for (size_t i = 0; i < kRows; ++i) {
    for (size_t j = 0; j < kVectors; ++j) sum[i][j] = hn::Zero(d);
  }
  for (int64_t k = 0; k < p.inner; ++k) {
    V row[kVectors];
    for (size_t j = 0; j < kVectors; ++j) row[j] = hn::LoadU(d, b + k * p.columns + j * lanes);
    for (size_t i = 0; i < kRows; ++i) {
      const V x = hn::Set(d, a[static_cast<int64_t>(i) * p.a_row + k * p.a_inner]);
      for (size_t j = 0; j < kVectors; ++j) sum[i][j] = hn::MulAdd(x, row[j], sum[i][j]);
    }
  }
  for (size_t i = 0; i < kRows; ++i) {
    for (size_t j = 0; j < kVectors; ++j) {
      float* to = c + static_cast<int64_t>(i) * p.columns + j * lanes;
      hn::StoreU(p.add ? hn::Add(hn::LoadU(d, to), sum[i][j]) : sum[i][j], d, to);
    }
  }
}

template <size_t kVectors>
HWY_ATTR void product_rows(const WinogradProduct& p, const float* a, const float* b, float* c) {
  // As many accumulators as registers allow: 32 of 16 floats, or 16 smaller ones.
  constexpr size_t kRows = hn::MaxLanes(F()) >= 16 ? kWinogradRows : kWinogradRows / 2;
  for (int64_t row = 0; row < p.rows; row += static_cast<int64_t>(kRows))
    product<kRows, kVectors>(p, a + row * p.a_row, b, c + row * p.columns);
}

void Multiply(const WinogradProduct& p, const float* a, const float* b, float* c, int64_t b_stride,
              int64_t c_stride) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  for (int64_t point = 0; point < kWinogradPoints; ++point) {
    int64_t column = 0;
    for (; column + 2 * lanes <= p.columns; column += 2 * lanes)
      product_rows<2>(p, a, b + column, c + column);
    for (; column < p.columns; column += lanes) product_rows<1>(p, a, b + column, c + column);
    a += p.a_stride;
    b += b_stride;
    c += c_stride;
  }
}

}  // namespace tpack::cpu::simd::HWY_NAMESPACE
// NOLINTEND(readability-identifier-naming)
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tpack::cpu::simd {

HWY_EXPORT(Filter);
HWY_EXPORT(FilterGradient);
HWY_EXPORT(Multiply);

HWY_EXPORT(Input);
HWY_EXPORT(Gradient);
HWY_EXPORT(Output);

void winograd_input(DType type, const std::byte* images, const WinogradImages& shape,
                    const WinogradTiles& tiles, float* transformed) {
  HWY_DYNAMIC_DISPATCH(Input)(type, images, shape, tiles, transformed);
}
void winograd_gradient(DType type, const std::byte* images, const WinogradImages& shape,
                       const WinogradTiles& tiles, float* transformed) {
  HWY_DYNAMIC_DISPATCH(Gradient)(type, images, shape, tiles, transformed);
}
void winograd_output(const float* transformed, const WinogradImages& shape, const WinogradTiles& tiles,
                     const float* bias, bool relu, DType type, std::byte* images) {
  HWY_DYNAMIC_DISPATCH(Output)(transformed, shape, tiles, bias, relu, type, images);
}
void winograd_filter(const float* filter, int64_t stride, float* transformed) {
  HWY_DYNAMIC_DISPATCH(Filter)(filter, stride, transformed);
}
void winograd_filter_gradient(const float* transformed, int64_t stride, float* filter) {
  HWY_DYNAMIC_DISPATCH(FilterGradient)(transformed, stride, filter);
}
void winograd_multiply(const WinogradProduct& p, const float* a, const float* b, float* c, int64_t b_stride,
                       int64_t c_stride) {
  HWY_DYNAMIC_DISPATCH(Multiply)(p, a, b, c, b_stride, c_stride);
}

}  // namespace tpack::cpu::simd
#endif
