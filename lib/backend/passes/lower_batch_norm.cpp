#include "backend/passes/passes.h"
#include "backend/passes/patterns.h"
#include "graph/passes/rewrite.h"
#include "graph/structural.h"
#include "ops/batch_norm.h"

namespace tpack {
namespace {

std::vector<Symbol> batch_norm_parts(Builder& b, double epsilon, std::span<const Symbol> in) {
  const Symbol x = in[0];
  const Shape& shape = x.shape();
  const Shape channels{shape[1]};
  const auto statistic = [&](Reduction kind) {
    return b.reshape(b.emit<Reduce>({kind, all_but_channels(shape)}, {x}).out(), channels);
  };
  const Symbol mean = statistic(Reduction::kMean);
  const Symbol variance = statistic(Reduction::kVariance);
  const Symbol scale = b.mul(in[1], b.rsqrt(b.add(variance, epsilon)));
  const Symbol offset = b.sub(in[2], b.mul(mean, scale));
  const Symbol y = b.add(b.mul(x, per_channel(b, scale, shape)), per_channel(b, offset, shape));
  return {y, mean, variance};
}

std::vector<Symbol> batch_norm_gradient_parts(Builder& b, double epsilon, std::span<const Symbol> in) {
  const Symbol x = in[0];
  const Symbol dy = in[4];
  const Shape& shape = x.shape();
  const std::vector<int> axes = all_but_channels(shape);
  const Symbol inverse = b.rsqrt(b.add(in[3], epsilon));
  const Symbol centered = b.sub(x, per_channel(b, in[2], shape));
  const Symbol dbeta = b.reduce_sum(dy, axes);
  const Symbol dgamma = b.mul(b.reduce_sum(b.mul(dy, centered), axes), inverse);
  // dx = gamma / s * (dy - dbeta / n - (x - mean) / s * dgamma / n), as a * dy + c * (x - mean) + d for each
  // channel.
  const double count = static_cast<double>(shape.elements()) / static_cast<double>(shape[1]);
  const Symbol a = b.mul(in[1], inverse);
  const Symbol c = b.mul(b.mul(a, b.mul(dgamma, inverse)), -1 / count);
  const Symbol d = b.mul(b.mul(a, dbeta), -1 / count);
  const Symbol scaled = b.add(b.mul(dy, per_channel(b, a, shape)), b.mul(centered, per_channel(b, c, shape)));
  return {b.add(scaled, per_channel(b, d, shape)), dgamma, dbeta};
}

}  // namespace

Graph lower_batch_norm(const Graph& graph) {
  return rewrite(graph, [](Graph& out, const Node& node, std::span<const Symbol> inputs) -> Replacement {
    if (const auto* norm = op_cast<BatchNorm>(node)) {
      ReplacementBuilder at(out, node);
      return batch_norm_parts(at.builder(), norm->params().epsilon, inputs);
    }
    if (const auto* gradient = op_cast<BatchNormGradient>(node)) {
      ReplacementBuilder at(out, node);
      return batch_norm_gradient_parts(at.builder(), gradient->params().epsilon, inputs);
    }
    return std::nullopt;
  });
}

}  // namespace tpack
