#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "nn/activation.h"
#include "nn/initializers.h"

namespace tpack::nn {

struct SqueezeExciteOptions {
  int64_t ratio = 16;                     // channels per unit of the smaller layer
  std::optional<int64_t> units = {};      // of the smaller layer; default: channels / ratio
  bool use_bias = true;                   // of both layers
  Activation activation = {};             // of the smaller layer; empty: relu
  Activation gate = {};                   // of the factors; empty: sigmoid
  InitializeFor kernel_initializer = {};  // of both layers; empty: variance_scaling()
};

/// Multiplies each channel by a factor that two dense layers compute from the means of all channels. Its
/// variables are those of the layers squeeze and excite in the current scope. Shapes: x [N, C, H, W] -> y
/// same; squeeze/W [C, units], squeeze/b [units], excite/W [units, C], excite/b [C]. Errors: ShapeError if x
/// is not a float image, or, without `units`, if `ratio` does not divide C. Source: Hu et al. 2018,
/// "Squeeze-and-Excitation Networks"; equals torchvision's SqueezeExcitation, whose layers are convolutions.
Symbol squeeze_excite(Builder& b, Symbol x, const SqueezeExciteOptions& options = {});
/// The same in a scope with this name.
inline Symbol squeeze_excite(Builder& b, Symbol x, std::string_view name,
                             const SqueezeExciteOptions& options = {}) {
  const Builder::NameScope scope(b, name);
  return squeeze_excite(b, x, options);
}

}  // namespace tpack::nn
