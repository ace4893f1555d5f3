#pragma once

#include <span>

#include "tensor/tensor.h"

namespace tpack {

/// A picture with images in rows, from left to right and from top to bottom, with a gap of one pixel between
/// them and around them. Cells without an image are gray like the gaps. Shapes: images [H, W, C] of one size,
/// float32 from 0 to 255, C of 1 or 3 (gray ones become RGB next to others); the grid [rows (H + 1) + 1,
/// columns (W + 1) + 1, C], float32. Errors: ShapeError.
Tensor image_grid(std::span<const Tensor> images, int64_t columns);

}  // namespace tpack
