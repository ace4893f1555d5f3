#pragma once

#include <functional>

#include "graph/builder.h"

namespace tpack::nn {

/// A function to apply to the result of another one; empty: none.
using Activation = std::function<Symbol(Builder& b, Symbol x)>;

inline Symbol activated(Builder& b, const Activation& activation, Symbol x) {
  return activation ? activation(b, x) : x;
}

/// max(x, 0). Shapes: x any -> y same, in the graph's float type.
inline Symbol relu(Builder& b, Symbol x) { return b.max(b.to_float(x), 0.0); }

}  // namespace tpack::nn
