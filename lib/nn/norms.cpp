#include "nn/norms.h"

#include <algorithm>
#include <numeric>

#include "nn/input_checks.h"
#include "ops/batch_norm.h"
#include "ops/convolution.h"

namespace tpack::nn {
namespace {

/// (x - mean) / sqrt(variance + epsilon) * gamma + beta, with the biased variance. `mean_of`: the mean of its
/// argument, `lined_up`: gamma and beta; both in a shape that broadcasts to x.
template <class Options, class MeanOf, class LinedUp>
Symbol affine_norm_with(Builder& b, Symbol x, const MeanOf& mean_of, const Options& o,
                        const Shape& parameters, const LinedUp& lined_up) {
  const Symbol centered = b.sub(x, mean_of(x));
  const Symbol variance = mean_of(b.square(centered));
  Symbol y = b.mul(centered, b.rsqrt(b.add(variance, o.epsilon)));
  if (o.scale) {
    const InitializeFor initializer = o.gamma_initializer ? o.gamma_initializer : constant(1);
    y = b.mul(y, lined_up(b.variable("gamma", parameters, initializer({}))));
  }
  if (o.center) y = b.add(y, lined_up(b.variable("beta", parameters, {})));
  return y;
}

/// A function that takes the mean over axes, which stay with size 1.
auto mean_over(Builder& b, const std::vector<int>& axes) {
  return [&b, axes](Symbol x) { return b.reduce_mean(x, axes, Builder::Keep::kYes); };
}

/// Shapes: x [N, C, ...] -> same; beta, gamma [C].
template <class Options, class MeanOf>
Symbol channel_norm(Builder& b, Symbol x, const MeanOf& mean_of, const Options& o) {
  return affine_norm_with(b, x, mean_of, o, Shape{x.shape()[1]},
                          [&](Symbol v) { return per_channel(b, v, x.shape()); });
}

/// The mean over each group of channels, computed from those of the channels, so that images keep their
/// layout. Shapes: x [N, C, ...] -> [N, C, 1, ...].
Symbol mean_of_groups(Builder& b, Symbol x, int64_t groups) {
  const Shape& shape = x.shape();
  std::vector<int> axes(shape.rank() - 2);
  std::iota(axes.begin(), axes.end(), 2);
  const Symbol of_channels = axes.empty() ? x : b.reduce_mean(x, axes, Builder::Keep::kYes);
  const Shape grouped{shape[0], groups, shape[1] / groups};
  const Symbol mean = b.reduce_mean(b.reshape(of_channels, grouped), {2}, Builder::Keep::kYes);
  return b.reshape(b.broadcast_to(mean, grouped), of_channels.shape());
}

/// The weights [C, C, 1, 1] of a convolution that sums over neighboring channels.
Tensor neighbors_of_channels(int64_t channels, int64_t size) {
  std::vector<double> weights(static_cast<size_t>(channels * channels));
  for (int64_t out = 0; out < channels; ++out) {
    const int64_t end = std::min(channels, out + (size - 1) / 2 + 1);
    for (int64_t in = std::max<int64_t>(0, out - size / 2); in < end; ++in)
      weights[static_cast<size_t>(out * channels + in)] = 1;
  }
  return Tensor::of<double>({channels, channels, 1, 1}, weights);
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
  return affine_norm_with(b, x, mean_over(b, axes), o, Shape(sizes), [](Symbol v) { return v; });
}

/// x^-exponent; roots are several times faster than powers.
Symbol inverse_power(Builder& b, Symbol x, double exponent) {
  if (exponent != 0.5 && exponent != 0.75) return b.pow(x, -exponent);
  const Symbol root = b.rsqrt(x);
  return exponent == 0.5 ? root : b.mul(root, b.sqrt(root));
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
  return channel_norm(b, x, mean_over(b, axes), o);
}

Symbol instance_norm(Builder& b, Symbol x, const InstanceNormOptions& o) {
  check_image(b, x);
  check_float_input(b, x);
  return channel_norm(b, x, mean_over(b, {2, 3}), o);
}

Symbol group_norm(Builder& b, Symbol x, const GroupNormOptions& o) {
  check_float_input(b, x);
  const Shape& shape = x.shape();
  if (shape.rank() < 2) throw_shape_error(b, "needs an input [N, C, ...], not " + x.spec().str());
  check_divides_channels(b, "groups", o.groups, x);
  if (shape.elements() == shape[0] * o.groups) {
    throw_shape_error(b, "'groups' is " + std::to_string(o.groups) + ", so each group of the input " +
                             x.spec().str() +
                             " has one value, and the output would not depend on it; use fewer groups");
  }
  return channel_norm(
      b, x, [&](Symbol values) { return mean_of_groups(b, values, o.groups); }, o);
}

Symbol local_response_norm(Builder& b, Symbol x, const LocalResponseNormOptions& o) {
  check_image(b, x);
  check_float_input(b, x);
  check_sizes(b, {{"size", o.size}});
  const Symbol weights = b.constant(neighbors_of_channels(x.shape()[1], o.size).cast(b.float_type()));
  const Symbol sum = convolution(b, b.square(x), weights, {});
  const Symbol base = b.add(b.mul(sum, o.alpha / static_cast<double>(o.size)), o.k);
  return b.mul(x, inverse_power(b, base, o.beta));
}

}  // namespace tpack::nn
