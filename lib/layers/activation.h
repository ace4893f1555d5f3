#pragma once

#include "layers/layer.h"

namespace tpack {

/// Applies the activation that a layer was given; none leaves x as it is.
inline Symbol activated(Builder& b, const Part<Layer>& activation, Symbol x) {
  if (!activation) return x;
  const std::vector<Symbol> in = {x};
  return activation->build(b, in);
}

}  // namespace tpack
