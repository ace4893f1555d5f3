#include "tensor/half.h"

#include <bit>
#include <cmath>

namespace tpack {
namespace {

constexpr uint32_t kInfinity = 0x7F800000U;  // of a float

}  // namespace

uint16_t BFloat16Format::nearest(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7FFFFFFFU) > kInfinity) return static_cast<uint16_t>((bits >> 16U) | 0x40U);  // a quiet NaN
  return static_cast<uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
}

float BFloat16Format::value(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16U);
}

uint16_t Float16Format::nearest(float x) {
  constexpr uint32_t kFirstInfinite =
      0x477FF000U;  // 65520, halfway between the largest number and the next one
  constexpr uint32_t kFirstNormal = 0x38800000U;  // 2^-14
  const auto all = std::bit_cast<uint32_t>(x);
  const auto sign = static_cast<uint16_t>((all >> 16U) & 0x8000U);
  const uint32_t size = all & 0x7FFFFFFFU;
  if (size > kInfinity) return static_cast<uint16_t>(sign | 0x7E00U | (size >> 13U & 0x3FFU));
  if (size >= kFirstInfinite) return static_cast<uint16_t>(sign | 0x7C00U);
  if (size < kFirstNormal) {
    // Steps of 2^-24 are the last digits of a float next to 0.5, so the addition rounds.
    const float moved = std::abs(x) + 0.5F;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(moved) - std::bit_cast<uint32_t>(0.5F)));
  }
  const uint32_t is_odd = size >> 13U & 1U;
  return static_cast<uint16_t>(sign | ((size - (112U << 23U) + 0xFFFU + is_odd) >> 13U));
}

float Float16Format::value(uint16_t bits) {
  const auto sign = static_cast<uint32_t>(bits & 0x8000U) << 16U;
  const uint32_t rest = bits & 0x7FFFU;
  uint32_t size = 0;
  if (rest >= 0x7C00U) {
    size = (rest << 13U) + (224U << 23U);  // infinite, or NaN
  } else if (rest >= 0x400U) {
    size = (rest << 13U) + (112U << 23U);
  } else {
    size = std::bit_cast<uint32_t>(static_cast<float>(rest) * 0x1p-24F);
  }
  return std::bit_cast<float>(sign | size);
}

}  // namespace tpack
