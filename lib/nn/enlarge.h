#pragma once

#include <cstdint>
#include <optional>

#include "graph/builder.h"
#include "ops/window.h"

namespace tpack::nn {

enum class ResizeMethod : uint8_t { kBilinear, kNearest };

struct ResizeOptions {
  std::optional<Size2> size = {};  // size of the result in pixels; default: computed from `scale`
  Size2 scale = {2, 2};            // output pixels per input pixel
  ResizeMethod method = ResizeMethod::kBilinear;
  bool align_corners = false;  // align the centers of the corner pixels
};

/// Resizes images like PyTorch's `interpolate`: bilinear, without antialiasing when an image shrinks, or the
/// nearest pixel. Shapes: x [N, C, H, W] -> y [N, C, H', W']. Errors: ShapeError for inputs of another rank
/// and sizes below 1.
Symbol resize(Builder& b, Symbol x, const ResizeOptions& options = {});

/// Turns groups of factor^2 channels into squares of pixels. Shapes: x [N, C * factor^2, H, W] -> y [N, C, H
/// * factor, W * factor]. Errors: ShapeError for inputs of another rank and other numbers of channels.
/// Source: Shi et al. 2016, "Real-Time Single Image and Video Super-Resolution Using an Efficient Sub-Pixel
/// Convolutional Neural Network"; the order of channels is PyTorch's.
Symbol pixel_shuffle(Builder& b, Symbol x, int64_t factor);

/// Moves channel i of group g to place i * groups + g, so that a convolution with groups sees channels of all
/// groups of the one before. Shapes: x [N, C, ...] -> y same. Errors: ShapeError for an input without
/// channels, and if `groups` does not divide C. Source: Zhang et al. 2017, "ShuffleNet"; equals PyTorch's
/// ChannelShuffle.
Symbol channel_shuffle(Builder& b, Symbol x, int64_t groups);

/// Each pixel becomes a rectangle with the pixel at its top left and zeros elsewhere. Shapes: x [N, C, H, W]
/// -> y [N, C, H * window.h, W * window.w]. Errors: as for resize. Source: tensorpack models/pool.py,
/// FixedUnPooling.
Symbol fixed_unpooling(Builder& b, Symbol x, Size2 window);

}  // namespace tpack::nn
