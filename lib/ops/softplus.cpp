#include "ops/softplus.h"

namespace tpack {

/// From 36 on, log(1 + exp(x)) is x in double precision, too, and there the other branch is kept finite, so
/// that its gradient is.
Symbol softplus(Builder& b, Symbol x) {
  constexpr double kLinearFrom = 36;
  const Symbol is_linear = b.greater(x, kLinearFrom);
  const Symbol bounded = b.select(is_linear, kLinearFrom, x);  // unlike min, its gradient keeps NaN
  return b.select(is_linear, x, b.neg(b.log(b.sigmoid(b.neg(bounded)))));
}

}  // namespace tpack
