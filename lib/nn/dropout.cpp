#include "nn/dropout.h"

#include "core/text.h"
#include "ops/random_uniform.h"

namespace tpack::nn {

Symbol dropout(Builder& b, Symbol x, double rate) {
  if (!(rate >= 0 && rate < 1)) {
    throw ConfigError(b.origin(), (b.path().empty() ? "" : b.path() + ": ") + "'rate' of dropout is " +
                                      shortest(rate) + "; must be from 0 to below 1");
  }
  if (!b.training() || rate == 0) return x;
  const Symbol kept = b.greater_equal(random_uniform(b, x.shape()), rate);
  return b.select(kept, b.mul(x, 1 / (1 - rate)), 0.0);
}

}  // namespace tpack::nn
