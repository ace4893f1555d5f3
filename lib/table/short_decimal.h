#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tpack {

/// Parts of `read_short_decimal`.
namespace short_decimal {

inline constexpr uint64_t kZeros = 0x3030303030303030;     // '0' in each byte
inline constexpr uint64_t kHighBits = 0x8080808080808080;  // of each byte
inline constexpr uint64_t kOnes = 0x0101010101010101;

template <class T>
uint64_t loaded(const char* at) {
  T value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// The first `count` bytes, from 1 to 8, with the first byte of the text in the lowest byte.
inline uint64_t load_bytes(const char* at, size_t count) {
  if (count == 8) return loaded<uint64_t>(at);
  if (count >= 4) return loaded<uint32_t>(at) | loaded<uint32_t>(at + count - 4) << (8 * (count - 4));
  if (count >= 2) return loaded<uint16_t>(at) | loaded<uint8_t>(at + count - 1) << (8 * (count - 1));
  return loaded<uint8_t>(at);
}

/// A bit in each byte that is `c`; bits above the first one may be wrong.
inline uint64_t marks_of(uint64_t bytes, char c) {
  const uint64_t zero_where_equal = bytes ^ (kOnes * static_cast<uint8_t>(c));
  return (zero_where_equal - kOnes) & ~zero_where_equal & kHighBits;
}

/// Eight values from 0 to 9, the highest digit in the lowest byte, as one number; two, four and eight of them
/// are joined at a time.
inline uint64_t join_digits(uint64_t digits) {
  const uint64_t pairs = digits * 10 + (digits >> 8U);
  constexpr uint64_t kPair = 0x000000FF000000FF;
  return ((pairs & kPair) * ((1000000ULL << 32U) + 100) +
          ((pairs >> 16U) & kPair) * ((10000ULL << 32U) + 1)) >>
         32U;
}

/// Digits with or without a point.
struct Digits {
  uint64_t value = 0;  // without the point
  size_t count = 0;
  size_t after_point = 0;
  bool has_point = false;
};

/// Reads 1 to 8 bytes; false for other texts.
inline bool read_digits(std::string_view text, char decimal, Digits& out) {
  uint64_t bytes = load_bytes(text.data(), text.size());
  out.count = text.size();
  if (const uint64_t point = marks_of(bytes, decimal); point != 0) {
    const auto before = static_cast<size_t>(std::countr_zero(point)) / 8;
    const uint64_t low = (uint64_t{1} << (8 * before)) - 1;
    bytes = (bytes & low) | ((bytes >> 8U) & ~low);
    --out.count;
    out.after_point = out.count - before;
    out.has_point = true;
  }
  if (out.count == 0) return false;
  const uint64_t values = (bytes ^ kZeros) << (8 * (8 - out.count));
  const uint64_t above_nine = ((values + 0x7676767676767676) | values) & kHighBits;
  out.value = join_digits(values);
  return above_nine == 0;
}

}  // namespace short_decimal

/// Reads the most common numbers: at most 15 digits, and a point. Digits and power of ten are exact doubles,
/// so their quotient is the nearest double; false for other texts. Source: Clinger 1990, "How to Read
/// Floating Point Numbers Accurately".
inline bool read_short_decimal(std::string_view text, char decimal, double& out) {
  constexpr std::array<double, 16> kPowers = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                              1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const size_t is_negative = text.starts_with('-') ? 1 : 0;  // no branch: signs cannot be predicted
  text.remove_prefix(is_negative);
  if (text.empty() || text.size() > kPowers.size()) return false;
  short_decimal::Digits high;
  if (!short_decimal::read_digits(text.substr(0, 8), decimal, high)) return false;
  auto value = static_cast<double>(high.value);
  size_t after_point = high.after_point;
  if (text.size() > 8) {
    short_decimal::Digits low;
    if (!short_decimal::read_digits(text.substr(8), decimal, low) || (high.has_point && low.has_point) ||
        high.count + low.count >= kPowers.size())
      return false;
    value = value * kPowers[low.count] + static_cast<double>(low.value);
    after_point = high.has_point ? after_point + low.count : low.after_point;
  }
  constexpr std::array<double, 2> kSigns = {1, -1};
  out = value / kPowers[after_point] * kSigns[is_negative];
  return true;
}

}  // namespace tpack
