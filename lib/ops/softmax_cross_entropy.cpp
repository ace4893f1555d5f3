#include "ops/softmax_cross_entropy.h"

#include "graph/structural.h"
#include "ops/one_hot.h"

namespace tpack {

Symbol softmax(Builder& b, Symbol x, int axis) {
  const Symbol largest = b.stop_gradient(b.reduce_max(x, {axis}, Builder::Keep::kYes));
  const Symbol powers = b.exp(b.sub(x, largest));
  const Symbol y = b.div(powers, b.reduce_sum(powers, {axis}, Builder::Keep::kYes));
  const bool is_last = axis == -1 || axis + 1 == static_cast<int>(x.shape().rank());
  return is_last ? b.declare(y, kClassProbabilities) : y;
}

Symbol log_softmax(Builder& b, Symbol x, int axis) {
  const Symbol shifted = b.sub(x, b.stop_gradient(b.reduce_max(x, {axis}, Builder::Keep::kYes)));
  return b.sub(shifted, b.log(b.reduce_sum(b.exp(shifted), {axis}, Builder::Keep::kYes)));
}

Schema<NoParams> SoftmaxCrossEntropy::schema() {
  return Schema<NoParams>("Cross entropy of integer labels under the softmax of logits.");
}

std::vector<TensorSpec> SoftmaxCrossEntropy::infer(std::span<const TensorSpec> in) const {
  if (in[0].shape.rank() != 2) throw ShapeError("logits must be [N, classes], not " + in[0].str());
  check_float(in[0], "the logits");
  if (in[1].dtype != DType::kInt32 || !(in[1].shape == Shape{in[0].shape[0]})) {
    throw ShapeError("labels must be int32 " + Shape{in[0].shape[0]}.str() + ", not " + in[1].str());
  }
  return {{in[0].dtype, in[1].shape}};
}

std::vector<Symbol> SoftmaxCrossEntropy::gradient(Builder& b, const Node& n,
                                                  std::span<const Symbol> dy) const {
  return {b.emit<SoftmaxCrossEntropyGradient>({}, {n.inputs[0], n.inputs[1], dy[0]}).out(), {}};
}

std::vector<Symbol> SoftmaxCrossEntropy::decompose(Builder& b, const Node& n) const {
  const Symbol picked = b.mul(log_softmax(b, n.inputs[0]), one_hot(b, n.inputs[1], n.inputs[0].shape()[1]));
  return {b.neg(b.reduce_sum(picked, {1}))};
}

Schema<NoParams> SoftmaxCrossEntropyGradient::schema() {
  return Schema<NoParams>("Gradient of SoftmaxCrossEntropy.");
}

std::vector<TensorSpec> SoftmaxCrossEntropyGradient::infer(std::span<const TensorSpec> in) const {
  check_float(in[0], "the input of SoftmaxCrossEntropy");
  return {in[0]};
}

std::vector<Symbol> SoftmaxCrossEntropyGradient::decompose(Builder& b, const Node& n) const {
  const Symbol logits = n.inputs[0];
  const Symbol error = b.sub(softmax(b, logits), one_hot(b, n.inputs[1], logits.shape()[1]));
  return {b.mul(error, b.reshape(n.inputs[2], Shape{logits.shape()[0], 1}))};
}

TPACK_REGISTER(Op, SoftmaxCrossEntropy, "SoftmaxCrossEntropy");
TPACK_REGISTER(Op, SoftmaxCrossEntropyGradient, "SoftmaxCrossEntropyGradient");

}  // namespace tpack
