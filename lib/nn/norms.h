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

struct GroupNormOptions {
  int64_t groups = 32;                   // of channels; divides their number
  double epsilon = 1e-5;                 // added to the variance
  bool center = true;                    // adds beta
  bool scale = true;                     // multiplies by gamma
  InitializeFor gamma_initializer = {};  // empty: ones
};

struct LocalResponseNormOptions {
  int64_t size = 5;     // neighboring channels, with the channel itself
  double alpha = 1e-4;  // factor of the mean of their squares
  double beta = 0.75;   // exponent
  double k = 1;         // added to the mean
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

/// Normalizes over groups of neighboring channels of a sample. Its variables are gamma and beta of the
/// current scope. Shapes: x [N, C, ...] -> y same; beta, gamma [C]. Errors: ShapeError for an input without
/// channels or floats, if `groups` does not divide C, and if a group has one value. Source: Wu and He 2018,
/// "Group Normalization"; equals PyTorch's GroupNorm.
Symbol group_norm(Builder& b, Symbol x, const GroupNormOptions& options = {});
/// The same in a scope with this name.
inline Symbol group_norm(Builder& b, Symbol x, std::string_view name, const GroupNormOptions& options = {}) {
  const Builder::NameScope scope(b, name);
  return group_norm(b, x, options);
}

/// x / (k + alpha * mean of the squares over neighboring channels)^beta; channels beyond the ends count as
/// zeros. The neighbors of channel c are c - size / 2 to c + (size - 1) / 2. Shapes: x [N, C, H, W] -> y
/// same. Errors: ShapeError if x is not a float image, or size is below 1. Source: Krizhevsky et al. 2012,
/// "ImageNet Classification with Deep Convolutional Neural Networks"; equals PyTorch's LocalResponseNorm.
Symbol local_response_norm(Builder& b, Symbol x, const LocalResponseNormOptions& options = {});

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
