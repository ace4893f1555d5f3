#include "backend/passes/passes.h"
#include "backend/passes/patterns.h"
#include "graph/builder.h"
#include "graph/passes/rewrite.h"
#include "ops/batch_norm.h"
#include "ops/pad.h"

namespace tpack {
namespace {

/// Emits nodes in a rewrite with the convenience of a Builder, under the path of the node that they replace.
class ReplacementBuilder {
 public:
  ReplacementBuilder(Graph& out, const Node& node)
      : builder_(out, table_, {.float_type = node.outputs[0].dtype}),
        scope_(builder_, node.path, node.origin) {}
  Builder& builder() { return builder_; }

 private:
  VariableTable table_;
  Builder builder_;
  Builder::NameScope scope_;
};

double elements_per_channel(const Shape& x) {
  return static_cast<double>(x.elements()) / static_cast<double>(x[1]);
}

/// Each channel's mean over the first image: close enough to the mean over the batch that sums of squares
/// around it lose few digits. A single element would not do: at a border, it may be far from all the others.
Symbol mean_of_first(Builder& b, Symbol x) {
  const Symbol first = slice(b, x, std::vector<int64_t>(x.shape().rank()), x.shape().with(0, 1));
  const double count = elements_per_channel(first.shape());
  return b.reduce_sum(b.mul(first, 1 / count), all_but_channels(x.shape()), Builder::Keep::kYes);
}

std::vector<Symbol> batch_norm_parts(Builder& b, double epsilon, std::span<const Symbol> in) {
  const Symbol x = in[0];
  const Shape& shape = x.shape();
  const Shape channels{shape[1]};
  const std::vector<int> axes = all_but_channels(shape);
  const double count = elements_per_channel(shape);
  const Symbol shift = mean_of_first(b, x);
  const Symbol shifted = b.sub(x, shift);
  const Symbol first = b.mul(b.reduce_sum(shifted, axes), 1 / count);
  const Symbol second = b.mul(b.reduce_sum(b.square(shifted), axes), 1 / count);
  const Symbol mean = b.add(first, b.reshape(shift, channels));
  const Symbol variance = b.max(b.sub(second, b.square(first)), 0.0);
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
  const double count = elements_per_channel(shape);
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
