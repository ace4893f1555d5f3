#include "nn/squeeze_excite.h"

#include "nn/dense.h"
#include "nn/input_checks.h"

namespace tpack::nn {

Symbol squeeze_excite(Builder& b, Symbol x, const SqueezeExciteOptions& o) {
  check_image(b, x);
  check_float_input(b, x);
  if (!o.units) check_divides_channels(b, "ratio", o.ratio, x);
  const Shape& shape = x.shape();
  Symbol factors = b.reduce_mean(x, {2, 3});
  factors = dense(b, factors, "squeeze",
                  {.units = o.units.value_or(shape[1] / o.ratio),
                   .use_bias = o.use_bias,
                   .activation = o.activation ? o.activation : relu,
                   .kernel_initializer = o.kernel_initializer});
  factors = dense(b, factors, "excite",
                  {.units = shape[1], .use_bias = o.use_bias, .kernel_initializer = o.kernel_initializer});
  factors = o.gate ? o.gate(b, factors) : b.sigmoid(factors);
  return b.mul(x, b.reshape(factors, {shape[0], shape[1], 1, 1}));
}

}  // namespace tpack::nn
