#include "backend/passes/fuse.h"

#include <algorithm>

#include "backend/passes/fused_ops.h"
#include "backend/passes/patterns.h"
#include "graph/builder.h"
#include "graph/passes/rewrite.h"
#include "ops/batch_norm.h"
#include "ops/pad.h"
#include "ops/pooling.h"

namespace tpack {
namespace {

using Replacement = std::optional<std::vector<Symbol>>;

/// Emits nodes in a rewrite with a Builder's comfort, under the path of the node they replace.
class Parts {
 public:
  Parts(Graph& out, const Node& node)
      : builder_(out, table_, {.float_type = node.outputs[0].dtype}),
        scope_(builder_, node.path, node.origin) {}
  Builder& builder() { return builder_; }

 private:
  VariableTable table_;
  Builder builder_;
  Builder::Scope scope_;
};

double elements_per_channel(const Shape& x) {
  return static_cast<double>(x.elements()) / static_cast<double>(x[1]);
}

/// Each channel's mean over the first image: close enough to the mean of all that sums of squares around it
/// lose few digits. A single element would not do: at a border it may be far from all the others.
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
  const Symbol centred = b.sub(x, per_channel(b, in[2], shape));
  const Symbol dbeta = b.reduce_sum(dy, axes);
  const Symbol dgamma = b.mul(b.reduce_sum(b.mul(dy, centred), axes), inverse);
  // dx = gamma / s * (dy - dbeta / n - (x - mean) / s * dgamma / n), as a * dy + c * (x - mean) + d for each
  // channel.
  const double count = elements_per_channel(shape);
  const Symbol a = b.mul(in[1], inverse);
  const Symbol c = b.mul(b.mul(a, b.mul(dgamma, inverse)), -1 / count);
  const Symbol d = b.mul(b.mul(a, dbeta), -1 / count);
  const Symbol scaled = b.add(b.mul(dy, per_channel(b, a, shape)), b.mul(centred, per_channel(b, c, shape)));
  return {b.add(scaled, per_channel(b, d, shape)), dgamma, dbeta};
}

/// The [filters] vector that a node adds along the channels (or columns) of `to`; empty if it does
/// something else.
Symbol bias_of(const Node& node, Symbol to) {
  const Call call = call_of(node);
  if (call.fn != pointwise::Fn::kAdd) return {};
  for (const size_t i : {0U, 1U}) {
    Symbol other = call.operands[1 - i].symbol;
    if (!(call.operands[i].symbol == to) || !other) continue;
    const int64_t channels = to.shape()[1];
    Shape lined_up{channels};
    if (to.shape().rank() == 4) lined_up = Shape{channels, 1, 1};
    if (!(other.shape() == lined_up) || other.dtype() != to.dtype()) return {};
    if (op_cast<Reshape>(*other.node) != nullptr) other = other.node->inputs[0];
    return other.shape() == Shape{channels} ? other : Symbol{};
  }
  return {};
}

std::shared_ptr<const Op> with_bias(const Node& node, Activation activation) {
  if (const auto* convolution = op_cast<Convolution>(node)) {
    return std::make_shared<const FusedConvolution>(
        FusedConvolutionParams{convolution->params(), activation});
  }
  if (const auto* product = op_cast<MatMul>(node)) {
    return std::make_shared<const FusedMatMul>(FusedMatMulParams{product->params(), activation});
  }
  return nullptr;
}

}  // namespace

Graph move_relu_behind_pooling(const Graph& graph) {
  const std::vector<int> uses = use_counts(graph);
  return rewrite(graph, [&](Graph& out, const Node& node, std::span<const Symbol> inputs) -> Replacement {
    if (op_cast<MaxPool>(node) == nullptr || uses[static_cast<size_t>(node.inputs[0].node->id)] != 1)
      return std::nullopt;
    const Symbol before_relu = relu_input(*inputs[0].node);
    if (!before_relu) return std::nullopt;
    const Node& pool = out.add(node.op, {before_relu}, node.path, node.origin);
    const Node& relu =
        out.add(inputs[0].node->op, {pool.out()}, inputs[0].node->path + "_pooled", inputs[0].node->origin);
    return {{relu.out(), pool.out(1)}};
  });
}

Graph sum_before_scatter(const Graph& graph) {
  return rewrite(graph, [](Graph& out, const Node& node, std::span<const Symbol> inputs) -> Replacement {
    const auto* reduce = op_cast<Reduce>(node);
    if (reduce == nullptr || reduce->params().kind != Reduction::kSum) return std::nullopt;
    const auto& axes = reduce->params().axes;
    const bool whole_image =
        std::count(axes.begin(), axes.end(), 2) == 1 && std::count(axes.begin(), axes.end(), 3) == 1;
    if (!whole_image || op_cast<MaxPoolScatter>(*inputs[0].node) == nullptr) return std::nullopt;
    return {{out.add(node.op, {inputs[0].node->inputs[0]}, node.path, node.origin).out()}};
  });
}

Graph lower_batch_norm(const Graph& graph) {
  return rewrite(graph, [](Graph& out, const Node& node, std::span<const Symbol> inputs) -> Replacement {
    if (const auto* norm = op_cast<BatchNorm>(node)) {
      Parts parts(out, node);
      return batch_norm_parts(parts.builder(), norm->params().epsilon, inputs);
    }
    if (const auto* gradient = op_cast<BatchNormGradient>(node)) {
      Parts parts(out, node);
      return batch_norm_gradient_parts(parts.builder(), gradient->params().epsilon, inputs);
    }
    return std::nullopt;
  });
}

Graph fuse_bias_and_activation(const Graph& graph) {
  const std::vector<int> uses = use_counts(graph);
  // A producer may be merged only if no other node reads its result.
  const auto alone = [&](const Symbol& old) { return uses[static_cast<size_t>(old.node->id)] == 1; };
  return rewrite(graph, [&](Graph& out, const Node& node, std::span<const Symbol> inputs) -> Replacement {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Node& producer = *inputs[i].node;
      if (!alone(node.inputs[i])) continue;
      if (const auto fused = with_bias(producer, Activation::kNone)) {
        // bias_of looks at the old node, whose operands are old symbols.
        const Symbol old_bias = bias_of(node, node.inputs[i]);
        if (!old_bias) continue;
        const size_t other = inputs.size() == 2 ? 1 - i : i;
        Symbol bias = inputs[other];
        if (op_cast<Reshape>(*bias.node) != nullptr) bias = bias.node->inputs[0];
        return {{out.add(fused, {producer.inputs[0], producer.inputs[1], bias}, producer.path, node.origin)
                     .out()}};
      }
      if (!relu_input(node)) continue;
      std::shared_ptr<const Op> active;
      if (const auto* c = op_cast<FusedConvolution>(producer)) {
        active = std::make_shared<const FusedConvolution>(
            FusedConvolutionParams{c->params().window, Activation::kRelu});
      } else if (const auto* m = op_cast<FusedMatMul>(producer)) {
        active =
            std::make_shared<const FusedMatMul>(FusedMatMulParams{m->params().product, Activation::kRelu});
      }
      if (active) return {{out.add(active, producer.inputs, producer.path, node.origin).out()}};
    }
    return std::nullopt;
  });
}

}  // namespace tpack
