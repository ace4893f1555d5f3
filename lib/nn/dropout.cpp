#include "nn/dropout.h"

#include "core/text.h"
#include "nn/input_checks.h"
#include "ops/random_uniform.h"

namespace tpack::nn {
namespace {

/// One draw for all elements that have the same place on the first `axes` axes.
Symbol dropped(Builder& b, Symbol x, double rate, size_t axes) {
  if (!(rate >= 0 && rate < 1)) {
    throw ConfigError(b.origin(), (b.path().empty() ? "" : b.path() + ": ") + "'rate' of dropout is " +
                                      shortest(rate) + "; must be from 0 to below 1");
  }
  if (x.shape().rank() < axes)
    throw_shape_error(b, std::string("needs an input ") + (axes == 1 ? "[N, ...]" : "[N, C, ...]") +
                             ", not " + x.spec().str());
  if (!b.training() || rate == 0) return x;
  std::vector<int64_t> drawn(x.shape().rank(), 1);
  for (size_t axis = 0; axis < axes; ++axis) drawn[axis] = x.shape()[static_cast<int>(axis)];
  const Symbol kept = b.greater_equal(random_uniform(b, Shape(drawn)), rate);
  return b.select(kept, b.mul(x, 1 / (1 - rate)), 0.0);
}

}  // namespace

Symbol dropout(Builder& b, Symbol x, double rate) { return dropped(b, x, rate, x.shape().rank()); }

Symbol spatial_dropout(Builder& b, Symbol x, double rate) { return dropped(b, x, rate, 2); }

Symbol drop_path(Builder& b, Symbol x, double rate) { return dropped(b, x, rate, 1); }

}  // namespace tpack::nn
