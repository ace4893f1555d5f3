#pragma once

#include <optional>

#include "graph/builder.h"
#include "ops/window.h"

namespace tpack::nn {

struct PoolingOptions {
  Size2 window = {2, 2};             // size, pixels
  std::optional<Size2> stride = {};  // pixels between windows; default: the window's size
  PaddingSetting padding = PaddingRule::kValid;
};

/// Largest element of each window; padding never counts. Shapes: x [N, C, H, W] -> y [N, C, H', W']. Errors:
/// ShapeError for inputs of another rank, sizes below 1, and windows that do not overlap the image. Source:
/// tensorpack models/pool.py, whose padding is 'valid' by default.
Symbol max_pooling(Builder& b, Symbol x, const PoolingOptions& options = {});

/// Mean of each window; padding does not count (PyTorch's count_include_pad=False). Shapes, errors and
/// source: as for max_pooling.
Symbol avg_pooling(Builder& b, Symbol x, const PoolingOptions& options = {});

/// The mean of each window of 3 pixels with the weights 1/4, 1/2, 1/4, in both directions, of the image
/// reflected at its border pixels: makes an image smaller without aliasing. Shapes: x [N, C, H, W] -> y [N,
/// C, ceil(H/stride), ceil(W/stride)]. Errors: ShapeError if x is not an image of at least 2x2 pixels, and
/// for a stride below 1. Source: Zhang 2019, "Making Convolutional Networks Shift-Invariant Again".
Symbol blur_pooling(Builder& b, Symbol x, Size2 stride = 2);

/// Largest element over height and width. Shapes and errors: as for global_avg_pooling.
Symbol global_max_pooling(Builder& b, Symbol x);

/// Mean over height and width. Shapes: x [N, C, H, W] -> y [N, C]. Errors: ShapeError if x is not an image.
Symbol global_avg_pooling(Builder& b, Symbol x);

}  // namespace tpack::nn
