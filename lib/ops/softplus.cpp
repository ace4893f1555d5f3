#include "ops/softplus.h"

namespace tpack {

/// From 36 on, log(1 + exp(x)) is x in double precision, too, and there the other branch is kept finite, so
/// that its gradient is.
Symbol softplus(Builder& b, Symbol x) {
  constexpr double kLinearFrom = 36;
  const Symbol curved = b.neg(b.log(b.sigmoid(b.neg(b.min(x, kLinearFrom)))));
  return b.select(b.greater(x, kLinearFrom), x, curved);
}

}  // namespace tpack
