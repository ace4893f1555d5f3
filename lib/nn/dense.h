#pragma once

#include <optional>
#include <string_view>

#include "nn/activation.h"
#include "nn/initializers.h"

namespace tpack::nn {

struct DenseOptions {
  int64_t units = 0;     // outputs; must be set
  bool use_bias = true;  // add one value per output
  bool flatten = true;   // flatten all axes except the batch; false: the same product at each position of the
                         // other axes, [N, T, in] to [N, T, units]
  Activation activation = {};                // of the result
  InitializeFor kernel_initializer = {};     // of W; empty: variance_scaling()
  InitializeFor bias_initializer = {};       // of b; empty: zeros
  Activation kernel_transform = {};          // of W before it is used, such as quantize_weight; empty: none
  std::optional<int64_t> adapter_rank = {};  // of a low-rank adapter, which is trained instead of W and b
  std::optional<double> adapter_alpha = {};  // factor of the adapter, times its rank; empty: the rank
};

/// Names of the variables of an adapter, below the scope of its layer. The scale is a variable, so that a
/// file of adapters says how they are used.
inline constexpr const char* kAdapterScope = "adapter";
inline constexpr const char* kAdapterDown = "A";       // [in, rank]
inline constexpr const char* kAdapterUp = "B";         // [rank, units]
inline constexpr const char* kAdapterScale = "scale";  // []: alpha / rank; not trained

/// y = x W + b, or, with an adapter, x W + b + scale (x A) B. All axes except the batch are flattened, in C,
/// H, W order; or the product applies to the last axis. Its variables are W and b of the current scope; with
/// an adapter, these are not trainable, and adapter/A, adapter/B and adapter/scale are added. A is uniform
/// within 1 / sqrt(in), B is 0, so at first the adapter changes nothing. Shapes: x [N, ...] -> y [N, units];
/// or x [..., in] -> y [..., units]; W [in, units], b [units], A [in, rank], B [rank, units], scale [].
/// Errors: ShapeError if x has less than two axes, units or the rank is below 1, the rank is above in or
/// units, or an adapter is combined with `kernel_transform`. Source: tensorpack models/fc.py; of the adapter
/// Hu et al. 2021, "LoRA: Low-Rank Adaptation of Large Language Models", and its initial values in loralib.
Symbol dense(Builder& b, Symbol x, const DenseOptions& options);
/// The same in a scope with this name.
inline Symbol dense(Builder& b, Symbol x, std::string_view name, const DenseOptions& options) {
  const Builder::NameScope scope(b, name);
  return dense(b, x, options);
}

}  // namespace tpack::nn
