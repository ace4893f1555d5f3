#pragma once

#include "graph/builder.h"

namespace tpack {

/// Softmax over an axis, from primitives. Shapes: x any -> same, sums over the axis are 1.
Symbol softmax(Builder& b, Symbol x, int axis = -1);
/// log(softmax(x)) without overflow.
Symbol log_softmax(Builder& b, Symbol x, int axis = -1);

/// Cross entropy of integer labels under softmax(logits), one number per sample.
/// Shapes: logits [N, C], labels int32 [N] -> loss [N]. A label outside 0..C-1 gives NaN for its sample.
class SoftmaxCrossEntropy final : public OpOf<SoftmaxCrossEntropy, NoParams> {
 public:
  static constexpr const char* kType = "SoftmaxCrossEntropy";
  static Schema<NoParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override;
  std::vector<Symbol> decompose(Builder& b, const Node& n) const override;
};

/// Shapes: logits [N, C], labels int32 [N], dloss [N] -> dlogits [N, C] = (softmax(logits) - onehot(labels))
/// * dloss.
class SoftmaxCrossEntropyGradient final : public OpOf<SoftmaxCrossEntropyGradient, NoParams> {
 public:
  static constexpr const char* kType = "SoftmaxCrossEntropyGradient";
  static Schema<NoParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  bool has_gradient() const override { return false; }
  std::vector<Symbol> decompose(Builder& b, const Node& n) const override;
};

}  // namespace tpack
