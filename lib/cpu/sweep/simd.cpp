#include "cpu/sweep/simd.h"

#include <cmath>
#include <limits>

#include "tensor/cast.h"

// Highway needs its own order of includes.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/sweep/simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
// NOLINTBEGIN(readability-identifier-naming): named apart from the functions that dispatch to them
namespace tpack::cpu::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using pointwise::Fn;

using F = hn::ScalableTag<float>;
using I32 = hn::RebindToSigned<F>;
using U8 = hn::Rebind<uint8_t, F>;
using V = hn::Vec<F>;

// clang 14 would call these through the stack otherwise.
#define TPACK_INLINE HWY_INLINE HWY_ATTR

TPACK_INLINE V one_or_zero(F d, hn::Mask<F> m) { return hn::IfThenElseZero(m, hn::Set(d, 1.0F)); }

/// hn::Exp is valid only from -104 to 104, and gives a number for NaN.
TPACK_INLINE V exp_of(F d, V a) {
  const V largest = hn::Set(d, 88.722839F);  // exp of it is the largest float
  const V inside = hn::Exp(d, hn::Min(a, largest));
  const V y = hn::IfThenElse(hn::Gt(a, largest), hn::Set(d, std::numeric_limits<float>::infinity()), inside);
  return hn::IfThenElse(hn::IsNaN(a), a, y);
}

/// Within the range of hn::Expm1; above it as exp_of.
TPACK_INLINE V expm1_of(F d, V a) {
  const V largest = hn::Set(d, 88.0F);
  const V inside = hn::Expm1(d, hn::Min(a, largest));
  const V y = hn::IfThenElse(hn::Gt(a, largest), exp_of(d, a), inside);
  return hn::IfThenElse(hn::IsNaN(a), a, y);
}

/// hn::Log is valid only for finite numbers above 0.
TPACK_INLINE V log_of(F d, V a) {
  const V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  const V above = hn::IfThenElse(hn::Lt(a, infinity), hn::Log(d, a), a);  // infinity and NaN stay as they are
  const V at_zero = hn::IfThenElse(hn::Eq(a, hn::Zero(d)), hn::Neg(infinity), above);
  return hn::IfThenElse(hn::Lt(a, hn::Zero(d)), hn::Set(d, std::numeric_limits<float>::quiet_NaN()), at_zero);
}

/// hn::Tanh is made of exponentials; beyond 10, tanh is 1 in float.
TPACK_INLINE V tanh_of(F d, V a) {
  const V ten = hn::Set(d, 10.0F);
  const V inside = hn::Tanh(d, hn::Max(hn::Min(a, ten), hn::Neg(ten)));
  return hn::IfThenElse(hn::IsNaN(a), a, inside);
}

TPACK_INLINE V softplus_of(F d, V a) {
  const V small = hn::Log1p(d, exp_of(d, hn::Neg(hn::Abs(a))));
  const V y = hn::Add(hn::Max(a, hn::Zero(d)), small);
  return hn::IfThenElse(hn::IsNaN(a), a, y);
}

/// hn::Log1p is valid only for numbers between -1 and infinity.
TPACK_INLINE V log1p_of(F d, V a) {
  const V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  const V minus_one = hn::Set(d, -1.0F);
  const V above =
      hn::IfThenElse(hn::Lt(a, infinity), hn::Log1p(d, a), a);  // infinity and NaN stay as they are
  const V at_end = hn::IfThenElse(hn::Eq(a, minus_one), hn::Neg(infinity), above);
  return hn::IfThenElse(hn::Lt(a, minus_one), hn::Set(d, std::numeric_limits<float>::quiet_NaN()), at_end);
}

TPACK_INLINE V sign_of(F d, V a) {
  const V one = hn::CopySign(hn::Set(d, 1.0F), a);
  return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenZeroElse(hn::Eq(a, hn::Zero(d)), one));
}

/// The polynomial of x with these coefficients, that of the highest power first.
template <size_t kCount>
TPACK_INLINE V polynomial(F d, V x, const float (&coefficients)[kCount]) {
  V y = hn::Set(d, coefficients[0]);
  for (size_t i = 1; i < kCount; ++i) y = hn::MulAdd(y, x, hn::Set(d, coefficients[i]));
  return y;
}

/// x P(x^2) up to 1, and 1 - exp(Q(x)) above; P and Q interpolate erf(x) / x and log(erfc(x)) at Chebyshev
/// nodes.
TPACK_INLINE V erf_of(F d, V a) {
  constexpr float kP[] = {-9.673590284364764e-06F, 0.00011268253729213029F, -0.0008484396385028958F,
                          0.005221053492277861F,   -0.026865437626838684F,  0.11283782869577408F,
                          -0.37612637877464294F,   1.128379225730896F};
  constexpr float kQ[] = {1.6140616025950294e-06F, -4.559062290354632e-05F, 0.0005927695310674608F,
                          -0.004740222357213497F,  0.02636471763253212F,    -0.10997824370861053F,
                          -0.6319370865821838F,    -1.1301666498184204F,    0.0003032129898201674F};
  const V one = hn::Set(d, 1.0F);
  const V size = hn::Abs(a);
  const V small = hn::Mul(a, polynomial(d, hn::Mul(a, a), kP));
  const V far = hn::Min(size, hn::Set(d, 4.0F));  // from where erf is 1 in float
  const V large = hn::CopySign(hn::Sub(one, hn::Exp(d, polynomial(d, far, kQ))), a);
  const V y = hn::IfThenElse(hn::Lt(size, one), small, large);
  return hn::IfThenElse(hn::IsNaN(a), a, y);
}

using D64 = hn::ScalableTag<double>;
using V64 = hn::Vec<D64>;

/// A function of two vectors computed in double.
template <class Function>
TPACK_INLINE V in_double(F d, V a, V b, const Function& function) {
  const D64 wide;
  const hn::Rebind<float, D64> narrow;
  HWY_ALIGN float x[hn::MaxLanes(F())];
  HWY_ALIGN float y[hn::MaxLanes(F())];
  hn::Store(a, d, x);
  hn::Store(b, d, y);
  for (size_t i = 0; i < hn::Lanes(d); i += hn::Lanes(wide)) {
    const V64 p = hn::PromoteTo(wide, hn::Load(narrow, x + i));
    const V64 q = hn::PromoteTo(wide, hn::Load(narrow, y + i));
    hn::Store(hn::DemoteTo(narrow, function(wide, p, q)), narrow, x + i);
  }
  return hn::Load(d, x);
}

/// exp(b log|a|) with the sign of a power, and the ends of the range as std::pow has them.
TPACK_INLINE V64 power(D64 d, V64 a, V64 b) {
  const V64 zero = hn::Zero(d);
  const V64 one = hn::Set(d, 1.0);
  const V64 infinity = hn::Set(d, std::numeric_limits<double>::infinity());
  const V64 size = hn::Abs(a);
  const V64 inside = hn::IfThenElse(hn::Lt(size, infinity), hn::Log(d, size), size);
  const V64 log = hn::IfThenElse(hn::Eq(size, zero), hn::Neg(infinity), inside);
  const V64 product = hn::Mul(b, log);
  const V64 most = hn::Set(d, 700.0);  // far beyond what a float can be
  const V64 bounded = hn::Max(hn::Min(product, most), hn::Neg(most));
  V64 y = hn::IfThenElse(hn::IsNaN(product), product, hn::Exp(d, bounded));
  y = hn::IfThenElse(hn::Eq(size, one), one, y);
  const auto is_integer = hn::Eq(b, hn::Trunc(b));
  const V64 half = hn::Mul(b, hn::Set(d, 0.5));
  const auto is_odd = hn::And(is_integer, hn::Ne(half, hn::Trunc(half)));
  const auto is_negative = hn::Lt(hn::CopySign(one, a), zero);
  const V64 nan = hn::Set(d, std::numeric_limits<double>::quiet_NaN());
  const auto is_undefined =
      hn::And(hn::And(hn::Lt(a, zero), hn::Lt(size, infinity)), hn::Ne(b, hn::Trunc(b)));
  y = hn::IfThenElse(hn::And(is_negative, is_odd), hn::Neg(y), y);
  y = hn::IfThenElse(is_undefined, nan, y);
  const auto is_one = hn::Or(hn::Eq(b, zero), hn::Eq(a, one));
  return hn::IfThenElse(is_one, one, hn::IfThenElse(hn::IsNaN(b), b, y));
}

TPACK_INLINE V pow_of(F d, V a, V b) {
  return in_double(d, a, b, [](D64 wide, V64 p, V64 q) HWY_ATTR { return power(wide, p, q); });
}

/// The function of numbers, for what the one of vectors is not valid for.
TPACK_INLINE V one_by_one(F d, V a, float (*function)(float)) {
  HWY_ALIGN float x[hn::MaxLanes(F())];
  hn::Store(a, d, x);
  for (size_t i = 0; i < hn::Lanes(d); ++i) x[i] = function(x[i]);
  return hn::Load(d, x);
}

/// hn::Sin and hn::Cos are valid from -39000 to 39000; in double, so that they are exact near their zeros.
TPACK_INLINE bool beyond_sin(F d, V a) { return !hn::AllTrue(d, hn::Le(hn::Abs(a), hn::Set(d, 39000.0F))); }

TPACK_INLINE V sin_of(F d, V a) {
  if (beyond_sin(d, a)) return one_by_one(d, a, [](float x) { return std::sin(x); });
  return in_double(d, a, a, [](D64 wide, V64 x, V64 /*x*/) HWY_ATTR { return hn::Sin(wide, x); });
}

TPACK_INLINE V cos_of(F d, V a) {
  if (beyond_sin(d, a)) return one_by_one(d, a, [](float x) { return std::cos(x); });
  return in_double(d, a, a, [](D64 wide, V64 x, V64 /*x*/) HWY_ATTR { return hn::Cos(wide, x); });
}

/// NaN if one of them is NaN: if it cannot compare, x86's Max gives the second operand.
TPACK_INLINE V max_with_nan(V a, V b) { return hn::IfThenElse(hn::IsNaN(a), a, hn::Max(a, b)); }

/// The function as an expression of vectors; NaNs in max and min are handled as in evaluate().
template <Fn kFn>
TPACK_INLINE V call(F d, V a, V b, V c) {
#define TPACK_FUNCTION(enumerator, name, arity, result, definition, vector, ...) \
  if constexpr (kFn == Fn::enumerator) return vector;
#include "core/functions.def"
  return a;
}

template <bool kUniform>
TPACK_INLINE V load(F d, const float* p, size_t i) {
  if constexpr (kUniform) return hn::Set(d, p[0]);
  return hn::LoadU(d, p + i);
}

/// The last elements go through a padded copy: the same instructions, so the same bits, wherever a tile ends.
template <Fn kFn, bool kA, bool kB, bool kC>
HWY_ATTR void loop(const float* a, const float* b, const float* c, float* out, size_t n) {
  const F d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(call<kFn>(d, load<kA>(d, a, i), load<kB>(d, b, i), load<kC>(d, c, i)), d, out + i);
  }
  if (i == n) return;
  HWY_ALIGN float ta[hn::MaxLanes(F())] = {};
  HWY_ALIGN float tb[hn::MaxLanes(F())] = {};
  HWY_ALIGN float tc[hn::MaxLanes(F())] = {};
  for (size_t k = i; k < n; ++k) {
    ta[k - i] = a[kA ? 0 : k];
    tb[k - i] = b[kB ? 0 : k];
    tc[k - i] = c[kC ? 0 : k];
  }
  hn::Store(call<kFn>(d, hn::Load(d, ta), hn::Load(d, tb), hn::Load(d, tc)), d, ta);
  for (size_t k = i; k < n; ++k) out[k] = ta[k - i];
}

template <Fn kFn, int kArity>
void choose(Vector a, Vector b, Vector c, float* out, size_t n) {
  if constexpr (kArity == 1) {
    if (a.uniform) return loop<kFn, true, true, true>(a.data, a.data, a.data, out, n);
    return loop<kFn, false, true, true>(a.data, a.data, a.data, out, n);
  } else if constexpr (kFn == Fn::kSelect) {
    if (a.uniform && n > 1) {  // one side for all
      const Vector& side = a.data[0] != 0 ? b : c;
      for (size_t i = 0; i < n; ++i) out[i] = side.data[side.uniform ? 0 : i];
      return;
    }
    if (b.uniform && c.uniform) return loop<kFn, false, true, true>(a.data, b.data, c.data, out, n);
    if (b.uniform) return loop<kFn, false, true, false>(a.data, b.data, c.data, out, n);
    if (c.uniform) return loop<kFn, false, false, true>(a.data, b.data, c.data, out, n);
    return loop<kFn, false, false, false>(a.data, b.data, c.data, out, n);
  } else {
    if (a.uniform) return loop<kFn, true, false, true>(a.data, b.data, b.data, out, n);
    if (b.uniform) return loop<kFn, false, true, true>(a.data, b.data, b.data, out, n);
    return loop<kFn, false, false, true>(a.data, b.data, b.data, out, n);
  }
}

void Apply(Fn fn, Vector a, Vector b, Vector c, float* out, size_t n) {
  switch (fn) {
    case Fn::kInput:
    case Fn::kConstant:
      return;
#define TPACK_FUNCTION(enumerator, name, arity, ...) \
  case Fn::enumerator:                               \
    return choose<Fn::enumerator, arity>(a, b, c, out, n);
#include "core/functions.def"
  }
}

void Fill(float value, float* out, size_t n) {
  const F d;
  const V v = hn::Set(d, value);
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(v, d, out + i);
  for (; i < n; ++i) out[i] = value;
}

void AddTo(const float* x, float* sum, size_t n) {
  const F d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::Add(hn::LoadU(d, sum + i), hn::LoadU(d, x + i)), d, sum + i);
  for (; i < n; ++i) sum[i] += x[i];
}

void MaxTo(const float* x, float* most, size_t n) {
  const F d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(max_with_nan(hn::LoadU(d, x + i), hn::LoadU(d, most + i)), d, most + i);
  for (; i < n; ++i) most[i] = x[i] > most[i] || x[i] != x[i] ? x[i] : most[i];
}

float Sum(const float* x, size_t n) {
  const F d;
  const size_t lanes = hn::Lanes(d);
  V a = hn::Zero(d);
  V b = hn::Zero(d);
  size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    a = hn::Add(a, hn::LoadU(d, x + i));
    b = hn::Add(b, hn::LoadU(d, x + i + lanes));
  }
  float total = hn::GetLane(hn::SumOfLanes(d, hn::Add(a, b)));
  for (; i < n; ++i) total += x[i];
  return total;
}

float Max(const float* x, size_t n) {
  const F d;
  const size_t lanes = hn::Lanes(d);
  V most = hn::Set(d, -std::numeric_limits<float>::infinity());
  V nans = hn::Zero(d);  // NaN if one was seen, which `most` leaves out
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const V v = hn::LoadU(d, x + i);
    most = hn::Max(v, most);
    nans = hn::IfThenElse(hn::IsNaN(v), v, nans);
  }
  float largest = hn::AllFalse(d, hn::IsNaN(nans)) ? hn::GetLane(hn::MaxOfLanes(d, most))
                                                   : std::numeric_limits<float>::quiet_NaN();
  for (; i < n; ++i) largest = x[i] > largest || x[i] != x[i] ? x[i] : largest;
  return largest;
}

void FromUint8(const uint8_t* x, float* out, size_t n) {
  const F d;
  const I32 di;
  const U8 d8;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(d8, x + i))), d, out + i);
  for (; i < n; ++i) out[i] = static_cast<float>(x[i]);
}

void FromInt32(const int32_t* x, float* out, size_t n) {
  const F d;
  const I32 di;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::ConvertTo(d, hn::LoadU(di, x + i)), d, out + i);
  for (; i < n; ++i) out[i] = static_cast<float>(x[i]);
}

void ToUint8(const float* x, uint8_t* out, size_t n) {
  for (size_t i = 0; i < n; ++i) out[i] = cast_element<uint8_t>(x[i]);
}

void ToInt32(const float* x, int32_t* out, size_t n) {
  for (size_t i = 0; i < n; ++i) out[i] = cast_element<int32_t>(x[i]);
}

const char* Target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace tpack::cpu::simd::HWY_NAMESPACE
// NOLINTEND(readability-identifier-naming)
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tpack::cpu::simd {

HWY_EXPORT(Apply);
HWY_EXPORT(Fill);
HWY_EXPORT(AddTo);
HWY_EXPORT(MaxTo);
HWY_EXPORT(Sum);
HWY_EXPORT(Max);
HWY_EXPORT(FromUint8);
HWY_EXPORT(FromInt32);
HWY_EXPORT(ToUint8);
HWY_EXPORT(ToInt32);
HWY_EXPORT(Target);

void apply(pointwise::Fn fn, Vector a, Vector b, Vector c, float* out, size_t n) {
  HWY_DYNAMIC_DISPATCH(Apply)(fn, a, b, c, out, n);
}
void fill(float value, float* out, size_t n) { HWY_DYNAMIC_DISPATCH(Fill)(value, out, n); }
void add_to(const float* x, float* sum, size_t n) { HWY_DYNAMIC_DISPATCH(AddTo)(x, sum, n); }
void max_to(const float* x, float* most, size_t n) { HWY_DYNAMIC_DISPATCH(MaxTo)(x, most, n); }
float sum(const float* x, size_t n) { return HWY_DYNAMIC_DISPATCH(Sum)(x, n); }
float max(const float* x, size_t n) { return HWY_DYNAMIC_DISPATCH(Max)(x, n); }
void from_uint8(const uint8_t* x, float* out, size_t n) { HWY_DYNAMIC_DISPATCH(FromUint8)(x, out, n); }
void from_int32(const int32_t* x, float* out, size_t n) { HWY_DYNAMIC_DISPATCH(FromInt32)(x, out, n); }
void to_uint8(const float* x, uint8_t* out, size_t n) { HWY_DYNAMIC_DISPATCH(ToUint8)(x, out, n); }
void to_int32(const float* x, int32_t* out, size_t n) { HWY_DYNAMIC_DISPATCH(ToInt32)(x, out, n); }
const char* target() { return HWY_DYNAMIC_DISPATCH(Target)(); }

}  // namespace tpack::cpu::simd
#endif
