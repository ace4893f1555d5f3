#include "comm/compression.h"

#include <bit>

#include "core/error.h"

// Highway needs its own order of includes.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "comm/compression.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
// NOLINTBEGIN(readability-identifier-naming): named apart from the functions that dispatch to them
namespace tpack::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_ATTR void to_half_of(const float* from, uint16_t* to, size_t count) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> half;
  const hn::CappedTag<float, 1> one;
  const hn::Rebind<hwy::float16_t, decltype(one)> one_half;
  auto* out = reinterpret_cast<hwy::float16_t*>(to);
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
    hn::StoreU(hn::DemoteTo(half, hn::LoadU(d, from + i)), half, out + i);
  for (; i < count; ++i) hn::StoreU(hn::DemoteTo(one_half, hn::LoadU(one, from + i)), one_half, out + i);
}

HWY_ATTR void from_half_of(const uint16_t* from, float* to, size_t count) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> half;
  const hn::CappedTag<float, 1> one;
  const hn::Rebind<hwy::float16_t, decltype(one)> one_half;
  const auto* in = reinterpret_cast<const hwy::float16_t*>(from);
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(half, in + i)), d, to + i);
  for (; i < count; ++i) hn::StoreU(hn::PromoteTo(one, hn::LoadU(one_half, in + i)), one, to + i);
}

}  // namespace tpack::HWY_NAMESPACE
// NOLINTEND(readability-identifier-naming)
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tpack {

HWY_EXPORT(to_half_of);
HWY_EXPORT(from_half_of);

namespace {

uint16_t to_bfloat(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  constexpr uint32_t kInfinity = 0x7F800000U;
  if ((bits & 0x7FFFFFFFU) > kInfinity) return static_cast<uint16_t>((bits >> 16U) | 0x40U);  // a quiet NaN
  return static_cast<uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
}

}  // namespace

void compress(std::span<const float> from, std::span<uint16_t> to, Compression compression) {
  TPACK_ASSERT(compression != Compression::kNone && to.size() == from.size(), "nothing to compress");
  if (compression == Compression::kFp16)
    return HWY_DYNAMIC_DISPATCH(to_half_of)(from.data(), to.data(), from.size());
  for (size_t i = 0; i < from.size(); ++i) to[i] = to_bfloat(from[i]);
}

void expand(std::span<const uint16_t> from, std::span<float> to, Compression compression) {
  TPACK_ASSERT(compression != Compression::kNone && to.size() == from.size(), "nothing to expand");
  if (compression == Compression::kFp16)
    return HWY_DYNAMIC_DISPATCH(from_half_of)(from.data(), to.data(), from.size());
  for (size_t i = 0; i < from.size(); ++i)
    to[i] = std::bit_cast<float>(static_cast<uint32_t>(from[i]) << 16U);
}

}  // namespace tpack
#endif
