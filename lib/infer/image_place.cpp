#include "infer/image_place.h"

#include <algorithm>
#include <cmath>

namespace tpack {

bool ImagePlace::shows_all() const {
  const auto is_inside = [this](const Point& p) {
    constexpr double kAlmost = 0.5;
    return p.x >= -kAlmost && p.y >= -kAlmost && p.x <= image.width + kAlmost &&
           p.y <= image.height + kAlmost;
  };
  const auto& [first, right, below] = corners;
  return is_inside(first) && is_inside(right) && is_inside(below) &&
         is_inside({right.x + below.x - first.x, right.y + below.y - first.y});
}

Tensor mask_of_picture(const Tensor& mask, const ImagePlace& place) {
  const auto& [first, right, below] = place.corners;
  const int64_t height = mask.shape()[0];
  const int64_t width = mask.shape()[1];
  const double scale_x = static_cast<double>(width) / place.image.width;
  const double scale_y = static_cast<double>(height) / place.image.height;
  const auto [columns, rows] = place.picture;
  Tensor out = Tensor::zeros({DType::kUInt8, Shape{rows, columns}});
  auto* to = out.data<uint8_t>();
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column, ++to) {
      const double across = (column + 0.5) / columns;
      const double down = (row + 0.5) / rows;
      const double x = first.x + across * (right.x - first.x) + down * (below.x - first.x);
      const double y = first.y + across * (right.y - first.y) + down * (below.y - first.y);
      const auto u = static_cast<int64_t>(std::floor(x * scale_x));
      const auto v = static_cast<int64_t>(std::floor(y * scale_y));
      if (u >= 0 && v >= 0 && u < width && v < height) *to = mask.data<uint8_t>()[v * width + u];
    }
  }
  return out;
}

}  // namespace tpack
