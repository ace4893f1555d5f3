#pragma once

#include <string_view>

#include "graph/builder.h"
#include "nn/initializers.h"

namespace tpack::nn {

struct EmbeddingOptions {
  int64_t entries = 0;             // number of entries; must be set
  int64_t units = 0;               // size of each vector; must be set
  InitializeFor initializer = {};  // of W; empty: normal(0, 1)
};

/// A row of W for each number; NaN for a number outside of 0 .. entries - 1, so that CheckNumerics reports
/// it. Its variable is W of the current scope. Shapes: x integers [N, ...] -> y [N, ..., units]; W [entries,
/// units]. W is drawn from the standard normal distribution, as in PyTorch. Errors: ShapeError if x has
/// floats, or a size is below 1.
Symbol embedding(Builder& b, Symbol x, const EmbeddingOptions& options);
/// The same in a scope with this name.
inline Symbol embedding(Builder& b, Symbol x, std::string_view name, const EmbeddingOptions& options) {
  const Builder::NameScope scope(b, name);
  return embedding(b, x, options);
}

}  // namespace tpack::nn
