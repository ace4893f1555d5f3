#include "draw/image_grid.h"

#include <algorithm>

#include "core/error.h"

namespace tpack {
namespace {

constexpr float kGapBrightness = 128;
constexpr int64_t kGapPixels = 1;

int64_t channels_of(std::span<const Tensor> images) {
  const Shape& first = images.front().shape();
  int64_t most = 0;
  for (const Tensor& image : images) {
    const Shape& shape = image.shape();
    const bool fits = image.dtype() == DType::kFloat32 && shape.rank() == 3 && shape[0] == first[0] &&
                      shape[1] == first[1] && (shape[2] == 1 || shape[2] == 3);
    if (!fits)
      throw ShapeError("image_grid: " + image.spec().str() + " next to " + images.front().spec().str());
    most = std::max(most, shape[2]);
  }
  return most;
}

}  // namespace

Tensor image_grid(std::span<const Tensor> images, int64_t columns) {
  if (images.empty() || columns < 1) throw ShapeError("image_grid: no image, or no column");
  const int64_t channels = channels_of(images);
  const int64_t height = images.front().shape()[0];
  const int64_t width = images.front().shape()[1];
  const int64_t rows = (std::ssize(images) + columns - 1) / columns;
  Tensor grid(DType::kFloat32, {rows * (height + kGapPixels) + kGapPixels,
                                columns * (width + kGapPixels) + kGapPixels, channels});
  std::ranges::fill(grid.span<float>(), kGapBrightness);
  auto* const out = grid.data<float>();
  for (int64_t i = 0; i < std::ssize(images); ++i) {
    const Tensor& image = images[static_cast<size_t>(i)];
    const float* in = image.data<float>();
    const int64_t of_image = image.shape()[2];
    const int64_t top = i / columns * (height + kGapPixels) + kGapPixels;
    const int64_t left = i % columns * (width + kGapPixels) + kGapPixels;
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t x = 0; x < width; ++x) {
        float* pixel = out + ((top + y) * grid.shape()[1] + left + x) * channels;
        for (int64_t c = 0; c < channels; ++c) pixel[c] = in[(y * width + x) * of_image + c % of_image];
      }
    }
  }
  return grid;
}

}  // namespace tpack
