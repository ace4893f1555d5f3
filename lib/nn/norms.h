#pragma once

#include <optional>
#include <string_view>

#include "graph/builder.h"
#include "nn/initializers.h"

namespace tpack::nn {

struct LayerNormOptions {
  /// Number of last axes to normalize over instead, with a scale and an offset for each of their elements: 1
  /// for [N, T, C], as in Transformers.
  std::optional<int64_t> last_axes = {};
  double epsilon = 1e-5;                 // added to the variance
  bool center = true;                    // adds beta
  bool scale = true;                     // multiplies by gamma
  InitializeFor gamma_initializer = {};  // empty: ones
};

struct InstanceNormOptions {
  double epsilon = 1e-5;                 // added to the variance
  bool center = true;                    // adds beta
  bool scale = true;                     // multiplies by gamma
  InitializeFor gamma_initializer = {};  // empty: ones
};

/// Normalizes over all values of a sample. Its variables are gamma and beta of the current scope. Shapes: x
/// [N, C, H, W] or [N, C] -> y same; beta, gamma [C]; with `last_axes`, x any -> y same; beta, gamma with the
/// sizes of these axes. Errors: ShapeError for inputs of other ranks, without floats, or with fewer axes.
/// Source: Ba et al. 2016, "Layer Normalization"; tensorpack models/layer_norm.py.
Symbol layer_norm(Builder& b, Symbol x, const LayerNormOptions& options = {});
/// The same in a scope with this name.
inline Symbol layer_norm(Builder& b, Symbol x, std::string_view name, const LayerNormOptions& options = {}) {
  const Builder::NameScope scope(b, name);
  return layer_norm(b, x, options);
}

/// Normalizes over each channel of each image. Its variables are gamma and beta of the current scope. Shapes:
/// x [N, C, H, W] -> y same; beta, gamma [C]. Errors: ShapeError if x is not a float image. Source: Ulyanov
/// et al. 2016, "Instance Normalization"; tensorpack models/layer_norm.py.
Symbol instance_norm(Builder& b, Symbol x, const InstanceNormOptions& options = {});
/// The same in a scope with this name.
inline Symbol instance_norm(Builder& b, Symbol x, std::string_view name,
                            const InstanceNormOptions& options = {}) {
  const Builder::NameScope scope(b, name);
  return instance_norm(b, x, options);
}

}  // namespace tpack::nn
