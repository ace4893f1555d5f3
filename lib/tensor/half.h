#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

namespace tpack {

/// A float of 16 bits. `Format` has `nearest`, the bits of a float, and `value`, the float of bits.
template <class Format>
struct HalfFloat {
  uint16_t bits = 0;

  HalfFloat() = default;
  /// The nearest value, ties to even; NaN stays NaN. A double is first rounded to float.
  template <class T>
  requires std::is_arithmetic_v<T>
  explicit HalfFloat(T x) : bits(Format::nearest(static_cast<float>(x))) {}
  template <class T>
  requires std::is_arithmetic_v<T>
  explicit operator T() const { return static_cast<T>(value()); }
  float value() const { return Format::value(bits); }
};

/// The upper half of a float: 8 bits of precision, the range of float.
struct BFloat16Format {
  static uint16_t nearest(float x);
  static float value(uint16_t bits);
};
/// IEEE half precision: 11 bits of precision, up to 65504; larger values become infinite.
struct Float16Format {
  static uint16_t nearest(float x);
  static float value(uint16_t bits);
};
using BFloat16 = HalfFloat<BFloat16Format>;
using Float16 = HalfFloat<Float16Format>;

/// `to` has the same size; rounded like single values.
void convert(std::span<const float> from, BFloat16* to);
void convert(std::span<const float> from, Float16* to);
void convert(std::span<const BFloat16> from, float* to);
void convert(std::span<const Float16> from, float* to);

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>;

}  // namespace tpack
