#include "nn/activation.h"

#include "nn/initializers.h"
#include "nn/input_checks.h"
#include "ops/batch_norm.h"

namespace tpack::nn {
namespace {

void check_channels(const Builder& b, Symbol x) {
  check_float_input(b, x);
  if (x.shape().rank() < 2) throw_shape_error(b, "needs an input [N, C, ...], not " + x.spec().str());
}

}  // namespace

Symbol prelu(Builder& b, Symbol x, const PreluOptions& o) {
  check_float_input(b, x);
  if (o.per_channel) check_channels(b, x);
  const Shape& shape = x.shape();
  const Symbol alpha = b.variable("alpha", o.per_channel ? Shape{shape[1]} : Shape{}, constant(o.init)({}));
  const Symbol slope = o.per_channel ? per_channel(b, alpha, shape) : alpha;
  return b.select(b.greater(x, 0.0), x, b.mul(x, slope));
}

Symbol maxout(Builder& b, Symbol x, int64_t pieces) {
  check_channels(b, x);
  check_divides_channels(b, "pieces", pieces, x);
  const Shape& shape = x.shape();
  std::vector<int64_t> apart = {shape[0], shape[1] / pieces, pieces};
  for (size_t axis = 2; axis < shape.rank(); ++axis) apart.push_back(shape[static_cast<int>(axis)]);
  return b.reduce_max(b.reshape(x, Shape(apart)), {2});
}

}  // namespace tpack::nn
