#pragma once

#include <string_view>

#include "graph/builder.h"

namespace tpack::nn {

/// Sets elements to zero with probability `rate` while training and scales the others by 1 / (1 - rate); in
/// inference the identity. What is drawn depends on the scope that is open. Shapes: x any -> y same. Errors:
/// ConfigError unless 0 <= rate < 1. Source: Srivastava et al. 2014, "Dropout"; scaled at training time as
/// TensorFlow does.
Symbol dropout(Builder& b, Symbol x, double rate);
/// The same in a scope of this name.
inline Symbol dropout(Builder& b, Symbol x, std::string_view name, double rate) {
  const Builder::NameScope scope(b, name);
  return dropout(b, x, rate);
}

}  // namespace tpack::nn
