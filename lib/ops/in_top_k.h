#pragma once

#include "graph/builder.h"

namespace tpack {

struct InTopKParams {
  int64_t k = 1;
};

/// 1 if fewer than k other classes have at least the label's score, else 0: a tie does not count as one of
/// the k best, so equal scores are never right. 0 if a score is not finite or the label is out of range.
/// Shapes: scores [N, C], labels int32 [N] -> [N], in the scores' type.
class InTopK final : public OpOf<InTopK, InTopKParams> {
 public:
  static constexpr const char* kType = "InTopK";
  static Schema<InTopKParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
};

Symbol in_top_k(Builder& b, Symbol scores, Symbol labels, int64_t k);

}  // namespace tpack
