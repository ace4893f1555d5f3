#pragma once

#include <algorithm>
#include <optional>

#include "layers/layer.h"
#include "ops/pooling.h"

namespace tpack {

/// What MaxPooling and AvgPooling share.
struct PoolingWindows {
  Size2 window = {2, 2};
  std::optional<Size2> stride;
  PaddingSetting padding = PaddingRule::kValid;
};

inline Schema<PoolingWindows> pooling_schema(const char* summary, const char* example) {
  return Schema<PoolingWindows>(summary)
      .example(example)
      .field("window", &PoolingWindows::window, at_least(1), "size of the window, pixels")
      .shorthand()
      .field("stride", &PoolingWindows::stride, at_least(1),
             "pixels between windows; default: the window's size")
      .field(
          "padding", &PoolingWindows::padding,
          padding_doc("'valid': only whole windows; 'same': output size input / stride, rounded up; what is "
                      "around the image never counts")
              .c_str());
}

/// The windows on images x [N, C, H, W]. Errors: ShapeError for inputs of another rank, and where a window
/// may see nothing of the image.
inline PoolingParams windows_on(const Builder& b, Symbol x, const PoolingWindows& p) {
  if (x.shape().rank() != 4) {
    throw ShapeError(b.origin(), b.path() + ": needs an input of 4 axes [N, C, H, W], not " + x.spec().str());
  }
  const Size2 stride = p.stride.value_or(p.window);
  if (const auto& sides = p.padding.sides) {
    if (std::max(sides->top, sides->bottom) >= p.window.h ||
        std::max(sides->left, sides->right) >= p.window.w)
      throw ShapeError(b.origin(), b.path() +
                                       ": 'padding' must be smaller than 'window', or windows would see "
                                       "nothing of the image");
  }
  const Size2 image{x.shape()[2], x.shape()[3]};
  return {p.window, stride, padding_for(p.padding, image, p.window, stride, {1, 1})};
}

}  // namespace tpack
