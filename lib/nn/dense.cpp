#include "nn/dense.h"

#include "nn/input_checks.h"
#include "ops/matmul.h"

namespace tpack::nn {

Symbol dense(Builder& b, Symbol x, const DenseOptions& o) {
  x = with_columns(b, x);
  if (x.shape().rank() < 2) throw_shape_error(b, "needs an input [N, ...], not " + x.spec().str());
  check_sizes(b, {{"units", o.units}});
  const auto last = static_cast<int>(x.shape().rank()) - 1;
  const Shape matrix =
      o.flatten ? Shape{x.shape()[0], Shape::kUnknown} : Shape{Shape::kUnknown, x.shape()[last]};
  const Symbol flat = b.reshape(b.to_float(x), matrix);
  const int64_t in = flat.shape()[1];
  const Symbol kernel =
      b.kernel(KernelKind::kDense, {in, o.units}, initial_weights(o.kernel_initializer, {in, o.units}),
               o.flatten ? x.shape().drop_front() : Shape{});
  const Symbol w = activated(b, o.kernel_transform, kernel);
  Symbol y = matmul(b, flat, w);
  if (o.use_bias) y = b.add(y, b.variable("b", Shape{o.units}, initial_values(o.bias_initializer)));
  y = activated(b, o.activation, y);
  return o.flatten ? y : b.reshape(y, x.shape().with(last, o.units));
}

}  // namespace tpack::nn
