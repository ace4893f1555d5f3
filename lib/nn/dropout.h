#pragma once

#include <string_view>

#include "graph/builder.h"

namespace tpack::nn {

/// Sets elements to zero with probability `rate` in training and scales the others by 1 / (1 - rate); in
/// inference the identity. The random numbers depend on the current scope. Shapes: x any -> y same. Errors:
/// ConfigError unless 0 <= rate < 1. Source: Srivastava et al. 2014, "Dropout"; scaled in training as in
/// TensorFlow.
Symbol dropout(Builder& b, Symbol x, double rate);
/// The same in a scope with this name.
inline Symbol dropout(Builder& b, Symbol x, std::string_view name, double rate) {
  const Builder::NameScope scope(b, name);
  return dropout(b, x, rate);
}

/// The same for whole channels of a sample. Shapes: x [N, C, ...] -> y same. Errors: also ShapeError for an
/// input without channels. Source: Tompson et al. 2015, "Efficient Object Localization Using Convolutional
/// Networks"; PyTorch's Dropout2d.
Symbol spatial_dropout(Builder& b, Symbol x, double rate);
/// The same in a scope with this name.
inline Symbol spatial_dropout(Builder& b, Symbol x, std::string_view name, double rate) {
  const Builder::NameScope scope(b, name);
  return spatial_dropout(b, x, rate);
}

/// The same for whole samples: stochastic depth, as the last function of a residual branch. Shapes: x [N,
/// ...]
/// -> y same. Errors: also ShapeError for an input without axes. Source: Huang et al. 2016, "Deep Networks
/// with Stochastic Depth"; scaled in training as in torchvision.
Symbol drop_path(Builder& b, Symbol x, double rate);
/// The same in a scope with this name.
inline Symbol drop_path(Builder& b, Symbol x, std::string_view name, double rate) {
  const Builder::NameScope scope(b, name);
  return drop_path(b, x, rate);
}

}  // namespace tpack::nn
