#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "draw/png.h"
#include "tensor/tensor.h"

// Draws masks, boxes and points over pictures. Pictures are uint8 [H, W, 3]; coordinates are pixels to the
// right and down, (0, 0) is the corner of the first pixel. Parts outside of the picture are not drawn.
namespace tpack {

/// The image blended half and half with the colors of its mask; class 0 and classes without a color are not
/// drawn. Shapes: image uint8 [H, W, 1 or 3], mask [H, W] of class numbers; [H, W, 3].
Tensor overlaid(const Tensor& image, const Tensor& mask, std::span<const RgbColor> colors);

/// A rectangle, including its edges, as in detection.
struct DrawnBox {
  double x0 = 0;
  double y0 = 0;
  double x1 = 0;
  double y1 = 0;
};
/// Draws the outline of a box, `thickness` pixels wide, within the box.
void draw_box(Tensor& picture, const DrawnBox& box, const RgbColor& color, int64_t thickness = 2);
/// Draws a cross with arms of `arm` pixels.
void draw_point(Tensor& picture, double x, double y, const RgbColor& color, int64_t arm = 3);

}  // namespace tpack
