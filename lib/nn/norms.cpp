#include "nn/norms.h"

#include <numeric>

#include "nn/input_checks.h"
#include "ops/batch_norm.h"

namespace tpack::nn {
namespace {

/// (x - mean) / sqrt(variance + epsilon) * gamma + beta, with the mean and the biased variance over `axes`.
/// `lined_up`: gamma and beta in a shape that broadcasts to x.
template <class Options, class LinedUp>
Symbol affine_norm_over(Builder& b, Symbol x, const std::vector<int>& axes, const Options& o,
                        const Shape& parameters, const LinedUp& lined_up) {
  const Symbol mean = b.reduce_mean(x, axes, Builder::Keep::kYes);
  const Symbol centered = b.sub(x, mean);
  const Symbol variance = b.reduce_mean(b.square(centered), axes, Builder::Keep::kYes);
  Symbol y = b.mul(centered, b.rsqrt(b.add(variance, o.epsilon)));
  if (o.scale) {
    const InitializeFor initializer = o.gamma_initializer ? o.gamma_initializer : constant(1);
    y = b.mul(y, lined_up(b.variable("gamma", parameters, initializer({}))));
  }
  if (o.center) y = b.add(y, lined_up(b.variable("beta", parameters, {})));
  return y;
}

/// Shapes: x [N, C, ...] -> same; beta, gamma [C].
template <class Options>
Symbol channel_norm(Builder& b, Symbol x, const std::vector<int>& axes, const Options& o) {
  return affine_norm_over(b, x, axes, o, Shape{x.shape()[1]},
                          [&](Symbol v) { return per_channel(b, v, x.shape()); });
}

/// Shapes: x any -> same; beta, gamma with the sizes of the last `count` axes.
Symbol norm_of_last(Builder& b, Symbol x, int count, const LayerNormOptions& o) {
  const auto rank = static_cast<int>(x.shape().rank());
  std::vector<int> axes;
  std::vector<int64_t> sizes;
  for (int axis = rank - count; axis < rank; ++axis) {
    axes.push_back(axis);
    sizes.push_back(x.shape()[axis]);
  }
  return affine_norm_over(b, x, axes, o, Shape(sizes), [](Symbol v) { return v; });
}

}  // namespace

Symbol layer_norm(Builder& b, Symbol x, const LayerNormOptions& o) {
  const auto rank = static_cast<int64_t>(x.shape().rank());
  check_float_input(b, x);
  if (o.last_axes) {
    check_sizes(b, {{"last_axes", *o.last_axes}});
    if (*o.last_axes >= rank)
      throw_shape_error(b, "'last_axes' is " + std::to_string(*o.last_axes) + ", but a sample of the input " +
                               x.spec().str() + " has " + std::to_string(rank - 1) + " axes");
    return norm_of_last(b, x, static_cast<int>(*o.last_axes), o);
  }
  if (rank != 2 && rank != 4) {
    throw_shape_error(b, "needs an input [N, C, H, W] or [N, C], not " + x.spec().str() +
                             "; for other inputs, set last_axes: 1");
  }
  std::vector<int> axes(x.shape().rank() - 1);
  std::iota(axes.begin(), axes.end(), 1);
  return channel_norm(b, x, axes, o);
}

Symbol instance_norm(Builder& b, Symbol x, const InstanceNormOptions& o) {
  check_image(b, x);
  check_float_input(b, x);
  return channel_norm(b, x, {2, 3}, o);
}

}  // namespace tpack::nn
