#pragma once

#include "model/layer.h"
#include "nn/activation.h"

namespace tpack {

/// A layer's field in the form for functions of nn; empty if it is not set.
inline nn::Activation activation_of(const Part<Layer>& given) {
  if (!given) return {};
  return [given](Builder& b, Symbol x) {
    const std::vector<Symbol> in = {x};
    return given->build(b, in);
  };
}

}  // namespace tpack
