/// Vectors of floats from and to memory in float or bfloat16. For sources that are compiled for each
/// instruction set (Highway): they include this after <hwy/highway.h>, once for each set, so there is no
/// guard.
#include <hwy/highway.h>

#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace tpack::HWY_NAMESPACE {

template <class D>
HWY_INLINE HWY_ATTR auto load_floats(D d, const float* from) {
  return hwy::HWY_NAMESPACE::LoadU(d, from);
}
template <class D>
HWY_INLINE HWY_ATTR auto load_floats(D d, const BFloat16* from) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToUnsigned<D> bits;
  const hn::Rebind<uint16_t, D> narrow;
  const auto upper = hn::PromoteTo(bits, hn::LoadU(narrow, reinterpret_cast<const uint16_t*>(from)));
  return hn::BitCast(d, hn::ShiftLeft<16>(upper));
}

template <class D, class V>
HWY_INLINE HWY_ATTR void store_floats(D d, V x, float* to) {
  hwy::HWY_NAMESPACE::StoreU(x, d, to);
}
/// Rounds to nearest, ties to even; NaN stays NaN.
template <class D, class V>
HWY_INLINE HWY_ATTR void store_floats(D d, V x, BFloat16* to) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToUnsigned<D> bits;
  const hn::RebindToSigned<D> sign;
  const hn::Rebind<uint16_t, D> narrow;
  const auto all = hn::BitCast(bits, x);
  const auto upper = hn::ShiftRight<16>(all);
  const auto is_odd = hn::And(upper, hn::Set(bits, 1));
  const auto nearest = hn::ShiftRight<16>(hn::Add(all, hn::Add(is_odd, hn::Set(bits, 0x7FFF))));
  const auto quiet = hn::Or(upper, hn::Set(bits, 0x40));
  const auto is_number = hn::RebindMask(bits, hn::Eq(x, x));
  hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(sign, hn::IfThenElse(is_number, nearest, quiet))), narrow,
             reinterpret_cast<uint16_t*>(to));
  (void)d;
}

}  // namespace tpack::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
