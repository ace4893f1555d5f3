#include "model/layer.h"

#include "model/network_builder.h"

namespace tpack {

Symbol Layer::build(Builder& b, Symbol /*x*/) const {
  throw ShapeError(b.origin(),
                   b.path() +
                       ": a layer that contains layers or takes several inputs is not allowed here; "
                       "put it into the model's `layers`");
}

Symbol Layer::build(Builder& b, std::span<const Symbol> in) const {
  if (in.size() != 1) {
    throw ShapeError(b.origin(), b.path() + ": takes one input, not " + std::to_string(in.size()));
  }
  return build(b, in[0]);
}

Symbol Layer::build_nested(NetworkBuilder& network, std::span<const Symbol> in) const {
  return build(network.builder(), in);
}

}  // namespace tpack
