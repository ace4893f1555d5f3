#pragma once

#include <string_view>

#include "nn/activation.h"
#include "nn/initializers.h"

namespace tpack::nn {

struct DenseOptions {
  int64_t units = 0;     // outputs; must be set
  bool use_bias = true;  // add one value per output
  bool flatten = true;   // flatten all axes except the batch; false: the same product at each position of the
                         // other axes, [N, T, in] to [N, T, units]
  Activation activation = {};             // of the result
  InitializeFor kernel_initializer = {};  // of W; empty: variance_scaling()
  InitializeFor bias_initializer = {};    // of b; empty: zeros
  Activation kernel_transform = {};       // of W before it is used, such as quantize_weight; empty: none
};

/// y = x W + b. All axes except the batch are flattened, in C, H, W order; or the product applies to the last
/// axis. Its variables are W and b of the current scope. Shapes: x [N, ...] -> y [N, units]; or x [..., in]
/// -> y [..., units]; W [in, units], b [units]. Errors: ShapeError if x has less than two axes, or units is
/// below 1. Source: tensorpack models/fc.py.
Symbol dense(Builder& b, Symbol x, const DenseOptions& options);
/// The same in a scope with this name.
inline Symbol dense(Builder& b, Symbol x, std::string_view name, const DenseOptions& options) {
  const Builder::NameScope scope(b, name);
  return dense(b, x, options);
}

}  // namespace tpack::nn
