#pragma once

#include "graph/builder.h"

namespace tpack {

/// log(1 + exp(x)), from primitives; smooth everywhere, and finite with its gradients for every finite x.
/// Shapes: x any -> y same.
Symbol softplus(Builder& b, Symbol x);

}  // namespace tpack
