#include "tensor/half.h"

// Highway needs its own order of includes.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/half_spans.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tensor/half_vectors.inl.h"
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

HWY_ATTR void to_bfloat_of(const float* from, BFloat16* to, size_t count) {
  const hn::ScalableTag<float> d;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) store_floats(d, hn::LoadU(d, from + i), to + i);
  for (; i < count; ++i) to[i] = BFloat16(from[i]);
}

HWY_ATTR void from_bfloat_of(const BFloat16* from, float* to, size_t count) {
  const hn::ScalableTag<float> d;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) hn::StoreU(load_floats(d, from + i), d, to + i);
  for (; i < count; ++i) to[i] = from[i].value();
}

}  // namespace tpack::HWY_NAMESPACE
// NOLINTEND(readability-identifier-naming)
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tpack {

HWY_EXPORT(to_half_of);
HWY_EXPORT(from_half_of);
HWY_EXPORT(to_bfloat_of);
HWY_EXPORT(from_bfloat_of);

void convert(std::span<const float> from, BFloat16* to) {
  HWY_DYNAMIC_DISPATCH(to_bfloat_of)(from.data(), to, from.size());
}
void convert(std::span<const float> from, Float16* to) {
  HWY_DYNAMIC_DISPATCH(to_half_of)(from.data(), reinterpret_cast<uint16_t*>(to), from.size());
}
void convert(std::span<const BFloat16> from, float* to) {
  HWY_DYNAMIC_DISPATCH(from_bfloat_of)(from.data(), to, from.size());
}
void convert(std::span<const Float16> from, float* to) {
  HWY_DYNAMIC_DISPATCH(from_half_of)(reinterpret_cast<const uint16_t*>(from.data()), to, from.size());
}

}  // namespace tpack
#endif
