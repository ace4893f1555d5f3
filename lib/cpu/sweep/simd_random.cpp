#include <cstdint>
#include <numbers>

#include "cpu/sweep/simd.h"
#include "ops/random_normal.h"
#include "ops/random_uniform.h"

// Highway needs its own order of includes.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/sweep/simd_random.cpp"
#include <hwy/foreach_target.h>
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
// NOLINTBEGIN(readability-identifier-naming): named apart from the functions that dispatch to them
namespace tpack::cpu::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// clang 14 would call these through the stack otherwise.
#define TPACK_INLINE HWY_INLINE HWY_ATTR

/// High halves of 32-bit products.
template <class D>
TPACK_INLINE hn::Vec<D> high_product(D d, hn::Vec<D> x, hn::Vec<D> m) {
  const hn::RepartitionToWide<D> wide;
  const auto even = hn::MulEven(x, m);
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, x))), m);
  return hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
}

/// Philox 4x32-10 for counters from `counter` on, one a lane: the four numbers c0 to c3 of each.
template <class D>
TPACK_INLINE void philox_bits(D d, uint64_t key, uint64_t counter, hn::Vec<D>& c0, hn::Vec<D>& c1,
                              hn::Vec<D>& c2, hn::Vec<D>& c3) {
  const auto m0 = hn::Set(d, 0xD2511F53U);
  const auto m1 = hn::Set(d, 0xCD9E8D57U);
  c0 = hn::Add(hn::Iota(d, 0), hn::Set(d, static_cast<uint32_t>(counter)));
  c1 = hn::Set(d, static_cast<uint32_t>(counter >> 32U));
  c1 = hn::Sub(c1, hn::VecFromMask(d, hn::Lt(c0, hn::Set(d, static_cast<uint32_t>(counter)))));  // carry
  c2 = hn::Zero(d);
  c3 = hn::Zero(d);
  auto k0 = static_cast<uint32_t>(key);
  auto k1 = static_cast<uint32_t>(key >> 32U);
  for (int round = 0; round < 10; ++round) {
    const auto next0 = hn::Xor(hn::Xor(high_product(d, c2, m1), c1), hn::Set(d, k0));
    const auto next2 = hn::Xor(hn::Xor(high_product(d, c0, m0), c3), hn::Set(d, k1));
    c1 = hn::Mul(c2, m1);
    c3 = hn::Mul(c0, m0);
    c0 = next0;
    c2 = next2;
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
}

/// Four uniform numbers of each counter, in order.
struct UniformBlock {
  template <class D>
  HWY_ATTR void operator()(D d, uint64_t key, uint64_t counter, float* block) const {
    const hn::RebindToFloat<D> df;
    const auto unit = [&](hn::Vec<D> bits) HWY_ATTR {
      const hn::RebindToSigned<D> di;
      return hn::Mul(hn::ConvertTo(df, hn::BitCast(di, hn::ShiftRight<8>(bits))), hn::Set(df, 0x1p-24F));
    };
    hn::Vec<D> c0, c1, c2, c3;  // NOLINT(readability-isolate-declaration)
    philox_bits(d, key, counter, c0, c1, c2, c3);
    hn::StoreInterleaved4(unit(c0), unit(c1), unit(c2), unit(c3), df, block);
  }
  static float element(uint64_t key, uint64_t index) { return uniform_element(key, index); }
};

/// Four normal numbers of each counter, in order, with the bits of normal_element: where a float may be
/// rounded differently within the errors of both (a few units of a double), that function computes it.
struct NormalBlock {
  template <class D>
  HWY_ATTR void operator()(D d, uint64_t key, uint64_t counter, float* block) const {
    constexpr size_t kMost = 2 * hn::MaxLanes(D());
    HWY_ALIGN uint32_t of_radius[kMost];
    HWY_ALIGN uint32_t of_angle[kMost];
    HWY_ALIGN float low[2 * kMost];
    HWY_ALIGN float high[2 * kMost];
    hn::Vec<D> c0, c1, c2, c3;  // NOLINT(readability-isolate-declaration)
    philox_bits(d, key, counter, c0, c1, c2, c3);
    hn::StoreInterleaved2(c0, c2, d, of_radius);
    hn::StoreInterleaved2(c1, c3, d, of_angle);
    const hn::ScalableTag<double> wide;
    const hn::Rebind<float, decltype(wide)> narrow;
    const size_t pairs = 2 * hn::Lanes(d);
    for (size_t i = 0; i < pairs; i += hn::Lanes(wide)) {
      const auto number =
          hn::Mul(hn::Add(double_of(wide, of_radius + i), hn::Set(wide, 1.0)), hn::Set(wide, 0x1p-32));
      const auto radius = hn::Sqrt(hn::Mul(hn::Set(wide, -2.0), hn::Log(wide, number)));
      const auto turn = hn::Mul(double_of(wide, of_angle + i), hn::Set(wide, 0x1p-32));
      const auto angle = hn::Mul(hn::Set(wide, 2 * std::numbers::pi), turn);
      const auto x = hn::Mul(radius, hn::Cos(wide, angle));
      const auto y = hn::Mul(radius, hn::Sin(wide, angle));
      const auto error_of = [&](hn::Vec<decltype(wide)> value) HWY_ATTR {
        return hn::MulAdd(hn::Abs(value), hn::Set(wide, 1e-13), hn::Set(wide, 1e-14));
      };
      const auto error_x = error_of(x);
      const auto error_y = error_of(y);
      hn::StoreInterleaved2(hn::DemoteTo(narrow, hn::Sub(x, error_x)),
                            hn::DemoteTo(narrow, hn::Sub(y, error_y)), narrow, low + 2 * i);
      hn::StoreInterleaved2(hn::DemoteTo(narrow, hn::Add(x, error_x)),
                            hn::DemoteTo(narrow, hn::Add(y, error_y)), narrow, high + 2 * i);
    }
    for (size_t i = 0; i < 2 * pairs; ++i)
      block[i] = low[i] == high[i] ? low[i] : element(key, 4 * counter + i);
  }
  static float element(uint64_t key, uint64_t index) { return normal_element(key, index); }

 private:
  /// Exact: the bits are the last of a double of 2^52 and more.
  template <class W>
  static TPACK_INLINE hn::Vec<W> double_of(W wide, const uint32_t* bits) {
    const hn::RebindToUnsigned<W> whole;
    const hn::Rebind<uint32_t, W> half;
    const auto shifted =
        hn::Or(hn::PromoteTo(whole, hn::Load(half, bits)), hn::Set(whole, 0x4330000000000000U));
    return hn::Sub(hn::BitCast(wide, shifted), hn::Set(wide, 0x1p52));
  }
};

template <class Block>
HWY_ATTR void draw_by(const Block& make, uint64_t key, uint64_t first, float* out, size_t n) {
  using D = hn::ScalableTag<uint32_t>;
  const D d;
  if constexpr (hn::MaxLanes(D()) == 1) {
    for (size_t i = 0; i < n; ++i) out[i] = Block::element(key, first + i);
  } else {
    HWY_ALIGN float block[4 * hn::MaxLanes(D())];
    const size_t lanes = hn::Lanes(d);
    size_t made = 0;
    for (uint64_t counter = first / 4; made < n; counter += lanes) {
      make(d, key, counter, block);
      const size_t skip = made == 0 ? first % 4 : 0;
      const size_t count = HWY_MIN(4 * lanes - skip, n - made);
      for (size_t i = 0; i < count; ++i) out[made + i] = block[skip + i];
      made += count;
    }
  }
}

void Uniform(uint64_t key, uint64_t first, float* out, size_t n) {
  draw_by(UniformBlock(), key, first, out, n);
}
void Normal(uint64_t key, uint64_t first, float* out, size_t n) {
  draw_by(NormalBlock(), key, first, out, n);
}

}  // namespace tpack::cpu::simd::HWY_NAMESPACE
// NOLINTEND(readability-identifier-naming)
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tpack::cpu::simd {

HWY_EXPORT(Uniform);
HWY_EXPORT(Normal);

void uniform(uint64_t key, uint64_t first, float* out, size_t n) {
  HWY_DYNAMIC_DISPATCH(Uniform)(key, first, out, n);
}
void normal(uint64_t key, uint64_t first, float* out, size_t n) {
  HWY_DYNAMIC_DISPATCH(Normal)(key, first, out, n);
}

}  // namespace tpack::cpu::simd
#endif
