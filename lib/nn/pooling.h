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

/// Mean over height and width. Shapes: x [N, C, H, W] -> y [N, C]. Errors: ShapeError if x is not an image.
Symbol global_avg_pooling(Builder& b, Symbol x);

}  // namespace tpack::nn
