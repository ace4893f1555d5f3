#pragma once

#include <string>

#include "model/cost.h"

namespace tpack {

/// Common parts of losses that compare the embeddings of samples.
constexpr const char* kNormalizeDoc =
    "true: divide embeddings by their lengths, so that distances are from 0 to 2 and ordered like the "
    "cosine; false: use the embeddings unchanged";

/// The embeddings as floats [N, D], divided by their lengths if `normalize`. `owner`: "cost TripletLoss".
/// Errors: ConfigError; ShapeError for another number of axes.
Symbol embeddings_of(const ModelView& model, const Ref<LayerOutput>& embeddings, bool normalize,
                     const std::string& owner);

/// x / max(|x|, 1e-12) along an axis. Source: PyTorch's functional.normalize.
Symbol unit_vectors(Builder& b, Symbol x, int axis);

/// The square root of squared distances. The gradient at 0 is 0.
Symbol distance_of_squares(Builder& b, Symbol squares);

/// 1 for equal labels [N], else 0: [N, N]. The node shows that a cost needs several samples of a class in
/// each batch (labels_compared_by).
Symbol same_labels(Builder& b, Symbol labels);
/// The labels of a same_labels node; nothing for other nodes.
std::optional<Symbol> labels_compared_by(const Node& node);

}  // namespace tpack
