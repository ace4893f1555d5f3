#pragma once

#include <string_view>

#include "nn/activation.h"
#include "nn/initializers.h"
#include "ops/window.h"

namespace tpack::nn {

struct Conv2DOptions {
  int64_t filters = 0;      // output channels; must be set
  Size2 kernel = {3, 3};    // size, pixels
  Size2 stride = {1, 1};    // pixels between windows
  Size2 dilation = {1, 1};  // pixels between the kernel's elements
  PaddingSetting padding = PaddingRule::kSame;
  int64_t groups = 1;                     // number of groups of channels
  bool use_bias = true;                   // add one value per filter
  Activation activation = {};             // of the result
  InitializeFor kernel_initializer = {};  // of W; empty: variance_scaling()
  InitializeFor bias_initializer = {};    // of b; empty: zeros
  Activation kernel_transform = {};       // of W before it is used, such as quantize_weight; empty: none
};

/// 2-D convolution; with "same", the output size is rounded up as in TensorFlow. Its variables are W and b of
/// the current scope. Shapes: x [N, C, H, W] -> y [N, filters, ceil(H/stride), ceil(W/stride)]; W [filters,
/// C/groups, kh, kw], b [filters]. Errors: ShapeError if x is not a float image, if C or filters is not a
/// multiple of groups, or if a size is below 1. Source: tensorpack models/conv2d.py; padding rule from the TF
/// guide "Convolution".
Symbol conv2d(Builder& b, Symbol x, const Conv2DOptions& options);
/// The same in a scope with this name.
inline Symbol conv2d(Builder& b, Symbol x, std::string_view name, const Conv2DOptions& options) {
  const Builder::NameScope scope(b, name);
  return conv2d(b, x, options);
}

}  // namespace tpack::nn
