#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "graph/builder.h"

namespace tpack::nn {

/// A function to apply to the result of another one; empty: none.
using Activation = std::function<Symbol(Builder& b, Symbol x)>;

inline Symbol activated(Builder& b, const Activation& activation, Symbol x) {
  return activation ? activation(b, x) : x;
}

/// max(x, 0). Shapes: x any -> y same, in the graph's float type.
inline Symbol relu(Builder& b, Symbol x) { return b.max(b.to_float(x), 0.0); }

struct PreluOptions {
  double init = 0.001;       // initial slope for negative inputs
  bool per_channel = false;  // a slope for each channel (axis 1)
};

/// x where it is above 0, else x * alpha. Its variable is alpha of the current scope. Shapes: x any, with
/// `per_channel` [N, C, ...] -> y same; alpha [], or [C]. Errors: ShapeError for an input without floats or,
/// with `per_channel`, without channels. Source: He et al. 2015, "Delving Deep into Rectifiers"; tensorpack
/// models/nonlin.py; `per_channel` as PyTorch's PReLU.
Symbol prelu(Builder& b, Symbol x, const PreluOptions& options = {});
/// The same in a scope with this name.
inline Symbol prelu(Builder& b, Symbol x, std::string_view name, const PreluOptions& options = {}) {
  const Builder::NameScope scope(b, name);
  return prelu(b, x, options);
}

/// The largest of each `pieces` neighboring channels. Shapes: x [N, C, ...] -> y [N, C / pieces, ...].
/// Errors: ShapeError for an input without channels or floats, and if `pieces` does not divide C. Source:
/// Goodfellow et al. 2013, "Maxout Networks"; tensorpack models/nonlin.py, whose num_unit is `pieces`.
Symbol maxout(Builder& b, Symbol x, int64_t pieces);

}  // namespace tpack::nn
