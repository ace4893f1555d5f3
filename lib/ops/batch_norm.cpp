#include "ops/batch_norm.h"

#include "graph/passes/gradient.h"

namespace tpack {
namespace {

Schema<BatchNormParams> batch_norm_schema(const char* summary) {
  return Schema<BatchNormParams>(summary).field("epsilon", &BatchNormParams::epsilon, above(0),
                                                "added to the variance");
}

struct Statistics {
  Symbol centered;  // x - mean
  Symbol inverse;   // 1 / sqrt(variance + epsilon), in the shape of the channels
  Symbol mean;      // [C]
  Symbol variance;  // [C]
};

Statistics statistics(Builder& b, Symbol x, double epsilon) {
  const Shape& shape = x.shape();
  const Symbol mean = b.reduce_mean(x, all_but_channels(shape));
  const Symbol centered = b.sub(x, per_channel(b, mean, shape));
  const Symbol variance = b.reduce_mean(b.square(centered), all_but_channels(shape));
  return {centered, b.rsqrt(b.add(per_channel(b, variance, shape), epsilon)), mean, variance};
}

}  // namespace

std::vector<int> all_but_channels(const Shape& x) {
  std::vector<int> axes = {0};
  for (int axis = 2; axis < static_cast<int>(x.rank()); ++axis) axes.push_back(axis);
  return axes;
}

Symbol per_channel(Builder& b, Symbol vector, const Shape& x) {
  std::vector<int64_t> sizes = {x[1]};
  sizes.resize(x.rank() - 1, 1);
  return b.reshape(vector, Shape(sizes));
}

Schema<BatchNormParams> BatchNorm::schema() {
  return batch_norm_schema("Normalizes each channel over the batch.");
}

std::vector<TensorSpec> BatchNorm::infer(std::span<const TensorSpec> in) const {
  if (in[0].shape.rank() != 4 && in[0].shape.rank() != 2) {
    throw ShapeError("batch normalization needs [N, C, H, W] or [N, C], not " + in[0].str());
  }
  check_float(in[0], "the input of a batch normalization");
  const TensorSpec channels{in[0].dtype, Shape{in[0].shape[1]}};
  for (const size_t i : {1U, 2U}) {
    if (!(in[i].shape == channels.shape)) {
      throw ShapeError("scale and offset must be " + channels.shape.str() + ", not " + in[i].shape.str());
    }
  }
  return {in[0], channels, channels};
}

std::vector<Symbol> BatchNorm::gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const {
  // If the statistics themselves are differentiated.
  if (dy[1] || dy[2]) return gradient_through_parts(b, n, dy);
  const Node& g = b.emit<BatchNormGradient>(params(), {n.inputs[0], n.inputs[1], n.out(1), n.out(2), dy[0]});
  return {g.out(0), g.out(1), g.out(2)};
}

std::vector<Symbol> BatchNorm::decompose(Builder& b, const Node& n) const {
  const Symbol x = n.inputs[0];
  const Statistics parts = statistics(b, x, params().epsilon);
  const Symbol normalized = b.mul(parts.centered, parts.inverse);
  const Symbol scaled = b.mul(normalized, per_channel(b, n.inputs[1], x.shape()));
  return {b.add(scaled, per_channel(b, n.inputs[2], x.shape())), parts.mean, parts.variance};
}

Schema<BatchNormParams> BatchNormGradient::schema() { return batch_norm_schema("Gradient of BatchNorm."); }

std::vector<TensorSpec> BatchNormGradient::infer(std::span<const TensorSpec> in) const {
  return {in[0], in[1], in[1]};
}

std::vector<Symbol> BatchNormGradient::decompose(Builder& b, const Node& n) const {
  const Symbol x = n.inputs[0];
  const Symbol dy = n.inputs[4];
  const Shape& shape = x.shape();
  const std::vector<int> axes = all_but_channels(shape);
  // The statistics are computed again from x, so that a gradient of this gradient also reaches x through
  // them.
  const Statistics parts = statistics(b, x, params().epsilon);
  const Symbol normalized = b.mul(parts.centered, parts.inverse);
  const Symbol dgamma = b.reduce_sum(b.mul(dy, normalized), axes);
  const Symbol dbeta = b.reduce_sum(dy, axes);
  const double count = static_cast<double>(shape.elements()) / static_cast<double>(shape[1]);
  const Symbol mean_part = b.mul(per_channel(b, dbeta, shape), 1 / count);
  const Symbol slope_part = b.mul(normalized, b.mul(per_channel(b, dgamma, shape), 1 / count));
  const Symbol scale = b.mul(per_channel(b, n.inputs[1], shape), parts.inverse);
  return {b.mul(scale, b.sub(b.sub(dy, mean_part), slope_part)), dgamma, dbeta};
}

TPACK_REGISTER(Op, BatchNorm, "BatchNorm");
TPACK_REGISTER(Op, BatchNormGradient, "BatchNormGradient");

}  // namespace tpack
