#include "nn/embedding.h"

#include "nn/input_checks.h"
#include "ops/gather.h"

namespace tpack::nn {

Symbol embedding(Builder& b, Symbol x, const EmbeddingOptions& o) {
  check_sizes(b, {{"entries", o.entries}, {"units", o.units}});
  const InitializeFor initializer = o.initializer ? o.initializer : normal(0, 1);
  const Symbol w = b.variable("W", Shape{o.entries, o.units}, initializer({1, o.units}));
  return gather(b, w, integers(b, x, "numbers"), 0);
}

}  // namespace tpack::nn
