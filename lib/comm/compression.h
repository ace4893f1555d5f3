#pragma once

#include <cstdint>
#include <span>

namespace tpack {

/// The format of floats in messages between processes.
enum class Compression : uint8_t {
  kNone,
  kFp16,  // IEEE half precision: 11 bits, up to 65504; larger values become infinite
  kBf16   // the upper half of a float: 8 bits, the range of float
};

/// Rounds to the nearest, ties to even; NaN stays NaN. `to` is as long as `from`. Not for kNone.
void compress(std::span<const float> from, std::span<uint16_t> to, Compression compression);
void expand(std::span<const uint16_t> from, std::span<float> to, Compression compression);

}  // namespace tpack
