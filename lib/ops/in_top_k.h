#pragma once

#include "graph/builder.h"

namespace tpack {

struct InTopKParams {
  int64_t k = 1;
};

/// 1 where fewer than k other classes have the label's score or a larger one, 0 elsewhere: a label that only
/// ties for a place among the k best has not won it, so scores that are all equal are never right. 0 if a
/// score is not finite or the label is out of range. Shapes: scores [N, C], labels int32 [N] -> [N], in the
/// scores' type.
class InTopK final : public OpOf<InTopK, InTopKParams> {
 public:
  static constexpr const char* kType = "InTopK";
  static Schema<InTopKParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
};

Symbol in_top_k(Builder& b, Symbol scores, Symbol labels, int64_t k);

}  // namespace tpack
