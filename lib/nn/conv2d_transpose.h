#pragma once

#include <string_view>

#include "nn/activation.h"
#include "nn/initializers.h"
#include "ops/window.h"

namespace tpack::nn {

struct Conv2DTransposeOptions {
  int64_t filters = 0;                          // output channels; must be set
  Size2 kernel = {3, 3};                        // size, pixels
  Size2 stride = {1, 1};                        // output pixels per input pixel
  PaddingSetting padding = PaddingRule::kSame;  // padding of the convolution whose gradient this is
  bool use_bias = true;                         // add one value per filter
  Activation activation = {};                   // of the result
  InitializeFor kernel_initializer = {};        // of W; empty: variance_scaling()
  InitializeFor bias_initializer = {};          // of b; empty: zeros
  Activation kernel_transform = {};  // of W before it is used, such as quantize_weight; empty: none
};

/// Transposed convolution: the gradient, with respect to its input, of a convolution from y to x. Its
/// variables are W and b of the current scope. Shapes: x [N, C, H, W] -> y [N, filters, H * stride, W *
/// stride], with `valid` larger by max(kernel - stride, 0); W [C, filters, kh, kw], b [filters]. The fans of
/// W are those of that convolution, as in TensorFlow. Errors: ShapeError if x is not a float image, a size is
/// below 1, or the output is empty. Source: tensorpack models/conv2d.py; Keras utils/conv_utils.py
/// (deconv_output_length).
Symbol conv2d_transpose(Builder& b, Symbol x, const Conv2DTransposeOptions& options);
/// The same in a scope with this name.
inline Symbol conv2d_transpose(Builder& b, Symbol x, std::string_view name,
                               const Conv2DTransposeOptions& options) {
  const Builder::NameScope scope(b, name);
  return conv2d_transpose(b, x, options);
}

}  // namespace tpack::nn
