#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

/// The arithmetic of Winograd's minimal filtering F(4x4, 3x3) on images in blocks of 16 channels: 36 products
/// for 16 results instead of 144. Source: Lavin and Gray, Fast Algorithms for Convolutional Neural Networks,
/// arXiv:1509.09308; the gradient of the weights is the transpose of the same bilinear map.
/// Images have a type, float32 or bfloat16; all else is float. Compiled for several instruction sets and
/// chosen by what the CPU has.
namespace tpack::cpu::simd {

constexpr int64_t kWinogradTile = 4;     // results of a tile, in each direction
constexpr int64_t kWinogradPatch = 6;    // input elements that they depend on
constexpr int64_t kWinogradPoints = 36;  // where patches and filters are multiplied
constexpr int64_t kWinogradRows = 8;     // rows of a product are computed this many at a time

/// Images [n, channels / 16, height, width, 16] seen as rows of tiles.
struct WinogradImages {
  int64_t channels = 0;  // a multiple of 16
  int64_t height = 0;
  int64_t width = 0;
  int64_t tiles_down = 0;  // of the result
  int64_t tiles_across = 0;
  int64_t top = 0;  // zeros around the images
  int64_t left = 0;

  int64_t tiles() const { return tiles_down * tiles_across; }  // of one image
};

/// Tiles first..first+count-1 at the points: transformed[point][tile][channel], points `stride` apart.
struct WinogradTiles {
  int64_t first = 0;
  int64_t count = 0;
  int64_t stride = 0;
};

/// B^T d B of each tile's patch.
void winograd_input(DType type, const std::byte* images, const WinogradImages& shape,
                    const WinogradTiles& tiles, float* transformed);
/// A dy A^T of each tile's gradient.
void winograd_gradient(DType type, const std::byte* images, const WinogradImages& shape,
                       const WinogradTiles& tiles, float* transformed);
/// A^T m A + bias of each tile; with `relu`, at least 0. `bias`: one value per channel, or null.
void winograd_output(const float* transformed, const WinogradImages& shape, const WinogradTiles& tiles,
                     const float* bias, bool relu, DType type, std::byte* images);

/// G g G^T for `count` <= 16 filters side by side: filter[9][16] -> points of 16, `stride` apart.
void winograd_filter(const float* filter, int64_t stride, float* transformed);
/// G^T s G, its transpose: points of 16, `stride` apart -> filter[9][16].
void winograd_filter_gradient(const float* transformed, int64_t stride, float* filter);

/// At each point c[rows, columns] = a b, or c += a b. a's element (i, k) is at i * a_row + k * a_inner; b
/// [inner, columns] and c are row-major. rows: a multiple of kWinogradRows; columns: a multiple of 16.
struct WinogradProduct {
  int64_t rows = 0;
  int64_t inner = 0;
  int64_t columns = 0;
  int64_t a_row = 0;
  int64_t a_inner = 0;
  int64_t a_stride = 0;  // from point to point
  bool add = false;
};
void winograd_multiply(const WinogradProduct& p, const float* a, const float* b, float* c, int64_t b_stride,
                       int64_t c_stride);

}  // namespace tpack::cpu::simd
