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

}  // namespace tpack::nn
