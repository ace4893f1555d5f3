#include "draw/annotation.h"

#include <algorithm>
#include <cmath>

namespace tpack {
namespace {

/// Fills columns [x0, x1) of rows [y0, y1), as far as they are in the picture.
void fill(Tensor& picture, int64_t x0, int64_t y0, int64_t x1, int64_t y1, const RgbColor& color) {
  const int64_t width = picture.shape()[1];
  auto* pixels = picture.data<uint8_t>();
  for (int64_t y = std::max<int64_t>(y0, 0); y < std::min(y1, picture.shape()[0]); ++y)
    for (int64_t x = std::max<int64_t>(x0, 0); x < std::min(x1, width); ++x)
      std::copy(color.begin(), color.end(), pixels + (y * width + x) * 3);
}

/// The number of the pixel at a coordinate; outside of the picture, a number that is also outside.
int64_t pixel_of(double coordinate) {
  constexpr double kFar = 1e9;
  return static_cast<int64_t>(std::floor(std::clamp(coordinate, -kFar, kFar)));
}

}  // namespace

Tensor overlaid(const Tensor& image, const Tensor& mask, std::span<const RgbColor> colors) {
  const int64_t channels = image.shape()[2];
  Tensor out(DType::kUInt8, {mask.shape()[0], mask.shape()[1], 3});
  for (int64_t p = 0; p < mask.elements(); ++p) {
    const auto of_class = static_cast<size_t>(mask.at(p));
    const bool has_color = of_class > 0 && of_class < colors.size();
    for (int64_t c = 0; c < 3; ++c) {
      const uint8_t pixel = image.data<uint8_t>()[p * channels + (channels == 1 ? 0 : c)];
      out.data<uint8_t>()[p * 3 + c] =
          has_color ? static_cast<uint8_t>((pixel + colors[of_class].at(static_cast<size_t>(c))) / 2) : pixel;
    }
  }
  return out;
}

void draw_box(Tensor& picture, const DrawnBox& box, const RgbColor& color, int64_t thickness) {
  if (std::isnan(box.x0) || std::isnan(box.y0) || std::isnan(box.x1) || std::isnan(box.y1)) return;
  const int64_t left = pixel_of(std::min(box.x0, box.x1));
  const int64_t top = pixel_of(std::min(box.y0, box.y1));
  // A box that ends at the corner of a pixel does not contain it, but each box has at least one pixel.
  const int64_t right = std::max(left + 1, -pixel_of(-std::max(box.x0, box.x1)));
  const int64_t bottom = std::max(top + 1, -pixel_of(-std::max(box.y0, box.y1)));
  fill(picture, left, top, right, std::min(top + thickness, bottom), color);
  fill(picture, left, std::max(bottom - thickness, top), right, bottom, color);
  fill(picture, left, top, std::min(left + thickness, right), bottom, color);
  fill(picture, std::max(right - thickness, left), top, right, bottom, color);
}

void draw_point(Tensor& picture, double x, double y, const RgbColor& color, int64_t arm) {
  if (std::isnan(x) || std::isnan(y)) return;
  const int64_t column = pixel_of(x);
  const int64_t row = pixel_of(y);
  fill(picture, column - arm, row, column + arm + 1, row + 1, color);
  fill(picture, column, row - arm, column + 1, row + arm + 1, color);
}

}  // namespace tpack
