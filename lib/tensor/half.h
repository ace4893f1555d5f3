#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

namespace tpack {

/// The upper half of a float: 8 bits of precision, the range of float.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  /// The nearest one, ties to even; NaN stays NaN. A double goes through float.
  template <class T>
  requires std::is_arithmetic_v<T>
  explicit BFloat16(T x) : bits(nearest(static_cast<float>(x))) {}
  template <class T>
  requires std::is_arithmetic_v<T>
  explicit operator T() const { return static_cast<T>(value()); }
  float value() const;

 private:
  static uint16_t nearest(float x);
};

/// IEEE half precision: 11 bits of precision, up to 65504; what is larger becomes infinite.
struct Float16 {
  uint16_t bits = 0;

  Float16() = default;
  /// The nearest one, ties to even; NaN stays NaN. A double goes through float.
  template <class T>
  requires std::is_arithmetic_v<T>
  explicit Float16(T x) : bits(nearest(static_cast<float>(x))) {}
  template <class T>
  requires std::is_arithmetic_v<T>
  explicit operator T() const { return static_cast<T>(value()); }
  float value() const;

 private:
  static uint16_t nearest(float x);
};

/// `to` has room for as many; rounded as one by one.
void convert(std::span<const float> from, BFloat16* to);
void convert(std::span<const float> from, Float16* to);
void convert(std::span<const BFloat16> from, float* to);
void convert(std::span<const Float16> from, float* to);

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>;

}  // namespace tpack
