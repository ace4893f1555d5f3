#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace tpack {

/// An image in PNG.
struct PngImage {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;  // 1 gray, 3 RGB, 4 RGBA
  std::string png;
};

/// Encodes one image or a batch. Shapes: [H, W], [H, W, C] or [N, H, W, C], C of 1, 3 or 4; uint8, or float32
/// from 0 to 255 (rounded, clamped). Errors: ShapeError for other shapes and types, ResourceError if encoding
/// fails.
std::vector<PngImage> encode_png(const Tensor& pictures);

using RgbColor = std::array<uint8_t, 3>;
/// Colors of classes: those of PASCAL VOC, black for class 0; at most 256.
std::vector<RgbColor> class_colors(size_t classes);
/// A PNG with a palette of at most 256 colors and class numbers as pixels, which image viewers show in
/// colors. Shapes: places uint8 [H, W]. Errors: ResourceError.
std::string encode_palette_png(const Tensor& places, std::span<const RgbColor> palette);

}  // namespace tpack
