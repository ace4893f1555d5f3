#include "layers/embeddings.h"

#include "graph/pointwise.h"
#include "graph/structural.h"

namespace tpack {

Symbol embeddings_of(const ModelView& model, const Ref<LayerOutput>& embeddings, bool normalize,
                     const std::string& owner) {
  Builder& b = model.builder();
  const Symbol x = b.to_float(model.output(embeddings));
  if (x.shape().rank() != 2)
    throw ShapeError(embeddings.position,
                     owner + ": embeddings are vectors [N, size]; '" + embeddings.name + "' is " +
                         x.spec().str() +
                         (x.shape().rank() > 2 ? "; end the network with GlobalAvgPooling or with "
                                                 "FullyConnected: {units: 64}"
                                               : ""));
  return normalize ? unit_vectors(b, x, 1) : x;
}

Symbol unit_vectors(Builder& b, Symbol x, int axis) {
  constexpr double kLeast = 1e-24;
  const Symbol squares = b.reduce_sum(b.square(x), {axis}, Builder::Keep::kYes);
  return b.div(x, b.sqrt(b.max(squares, kLeast)));
}

Symbol distance_of_squares(Builder& b, Symbol squares) {
  constexpr double kLeast = 1e-30;
  return b.select(b.greater(squares, kLeast), b.sqrt(b.max(squares, kLeast)), b.mul(squares, 0.0));
}

Symbol same_labels(Builder& b, Symbol labels) {
  const int64_t samples = labels.shape()[0];
  return b.to_float(b.equal(b.reshape(labels, {samples, 1}), b.reshape(labels, {1, samples})));
}

std::optional<Symbol> labels_compared_by(const Node& node) {
  const auto* op = op_cast<pointwise::Pointwise>(node);
  if (op == nullptr || op->expression().code.back().fn != pointwise::Fn::kEqual || node.inputs.size() != 2)
    return std::nullopt;
  const Node& column = *node.inputs[0].node;
  const Node& row = *node.inputs[1].node;
  if (op_cast<Reshape>(column) == nullptr || op_cast<Reshape>(row) == nullptr) return std::nullopt;
  return column.inputs[0] == row.inputs[0] ? std::optional(column.inputs[0]) : std::nullopt;
}

}  // namespace tpack
