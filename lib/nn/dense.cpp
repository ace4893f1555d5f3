#include "nn/dense.h"

#include <algorithm>
#include <string>

#include "nn/input_checks.h"
#include "ops/matmul.h"

namespace tpack::nn {
namespace {

/// W [in, units].
Symbol weight_matrix(Builder& b, const DenseOptions& o, int64_t in, const Shape& flattened) {
  const Shape shape{in, o.units};
  VariableSpec spec{b.variable_name("W"), {b.float_type(), shape}};
  spec.trainable = !o.adapter_rank;
  spec.initialize = initial_weights(o.kernel_initializer, {in, o.units});
  spec.kernel = KernelKind::kDense;
  spec.flattened = flattened;
  return b.variable(std::move(spec));
}

void check_adapter(const Builder& b, const DenseOptions& o, int64_t in) {
  check_sizes(b, {{"adapter_rank", *o.adapter_rank}});
  if (o.kernel_transform)
    throw_shape_error(b,
                      "an adapter ('adapter_rank') adds to W as it is, so there is none for a layer with "
                      "'kernel_transform'; remove one of them, for this layer with adapter_rank: ~");
  const int64_t most = std::min(in, o.units);
  if (*o.adapter_rank > most)
    throw_shape_error(b, "'adapter_rank' is " + std::to_string(*o.adapter_rank) + ", above a size of W, " +
                             Shape{in, o.units}.str() + "; must be at most " + std::to_string(most) +
                             ", or adapter_rank: ~ for a layer without an adapter");
}

/// scale (x A) B. Shapes: x [M, in] -> [M, units].
Symbol adapted(Builder& b, Symbol x, const DenseOptions& o) {
  const int64_t in = x.shape()[1];
  const int64_t rank = *o.adapter_rank;
  const double scale = o.adapter_alpha.value_or(static_cast<double>(rank)) / static_cast<double>(rank);
  const Builder::NameScope scope(b, kAdapterScope);
  const InitializeFor uniform =
      variance_scaling({.scale = 1.0 / 3, .mode = FanMode::kFanIn, .distribution = Distribution::kUniform});
  const Symbol down = b.variable(kAdapterDown, {in, rank}, uniform({in, rank}));
  const Symbol up = b.variable(kAdapterUp, {rank, o.units}, Initialize());
  const Symbol factor = b.variable(kAdapterScale, Shape{}, constant(scale)({}), false);
  return b.mul(matmul(b, matmul(b, x, down), up), factor);
}

}  // namespace

Symbol dense(Builder& b, Symbol x, const DenseOptions& o) {
  x = with_columns(b, x);
  if (x.shape().rank() < 2) throw_shape_error(b, "needs an input [N, ...], not " + x.spec().str());
  check_sizes(b, {{"units", o.units}});
  const auto last = static_cast<int>(x.shape().rank()) - 1;
  const Shape matrix =
      o.flatten ? Shape{x.shape()[0], Shape::kUnknown} : Shape{Shape::kUnknown, x.shape()[last]};
  const Symbol flat = b.reshape(b.to_float(x), matrix);
  const int64_t in = flat.shape()[1];
  if (o.adapter_rank) check_adapter(b, o, in);
  const Symbol kernel = weight_matrix(b, o, in, o.flatten ? x.shape().drop_front() : Shape{});
  const Symbol w = activated(b, o.kernel_transform, kernel);
  Symbol y = matmul(b, flat, w);
  if (o.use_bias)
    y = b.add(y, b.variable("b", Shape{o.units}, initial_values(o.bias_initializer), !o.adapter_rank));
  if (o.adapter_rank) y = b.add(y, adapted(b, flat, o));
  y = activated(b, o.activation, y);
  return o.flatten ? y : b.reshape(y, x.shape().with(last, o.units));
}

}  // namespace tpack::nn
