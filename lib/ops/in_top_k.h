#pragma once

#include "graph/builder.h"

namespace tpack {

struct InTopKParams {
  int64_t k = 1;
};

/// 1 where fewer than k classes have a larger score than the label's, 0 elsewhere; 0 where a score is not
/// finite or the label is out of range (TensorFlow's in_top_k). Shapes: scores [N, C], labels int32 [N] ->
/// [N], in the scores' type.
class InTopK final : public OpOf<InTopK, InTopKParams> {
 public:
  static constexpr const char* kType = "InTopK";
  static Schema<InTopKParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
};

Symbol in_top_k(Builder& b, Symbol scores, Symbol labels, int64_t k);

}  // namespace tpack
