#pragma once

#include "cpu/products/pair_products.h"

/// The transforms of F(2x2, 3x3) for products of pairs of bfloat16, 16 channels at a time. They compute in
/// float32 and round once. As pair_products.h, only if has_pair_products(). Source: Lavin and Gray 2016,
/// "Fast Algorithms for Convolutional Neural Networks".
namespace tpack::cpu::simd {

inline constexpr int64_t kPairTile = 2;     // side of the results of a tile
inline constexpr int64_t kPairPoints = 16;  // of a transformed tile

/// 16 channels of an image of bfloat16 or float32.
struct PairImage {
  DType type = DType::kBFloat16;
  std::byte* data = nullptr;
  int64_t height = 0;
  int64_t width = 0;
  int64_t row_step = 0;  // bytes
  int64_t pixel_step = 0;
};

/// The patch of 4x4 pixels that begins at (row, column); pixels outside of the image are zero. Point i goes
/// to to + i point_step: 16 bfloat16 numbers.
void transform_patch(const PairImage& image, int64_t row, int64_t column, uint16_t* to, int64_t point_step);

/// The filters of two input channels for 16 output channels, [9][16] each: point i becomes 16 pairs.
void transform_filters(const float* even, const float* odd, uint32_t* to, int64_t point_step);

/// The 2x2 results of a tile from its 16 points, point i at sums + i point_step; those outside of the image
/// are not written. `bias` may be null; with `relu`, max(y, 0), where NaN stays NaN.
void store_tile(const float* sums, int64_t point_step, const float* bias, bool relu, const PairImage& image,
                int64_t row, int64_t column);

}  // namespace tpack::cpu::simd
