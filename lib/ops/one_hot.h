#pragma once

#include "graph/builder.h"

namespace tpack {

struct OneHotParams {
  int64_t classes = 1;
  DType dtype = DType::kFloat32;
};

/// 1 at the label's index, 0 elsewhere; all 0 for a label outside 0..classes-1. Shapes: labels int32 [N] ->
/// [N, classes].
class OneHot final : public OpOf<OneHot, OneHotParams> {
 public:
  static constexpr const char* kType = "OneHot";
  static Schema<OneHotParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
};

Symbol one_hot(Builder& b, Symbol labels, int64_t classes);

}  // namespace tpack
