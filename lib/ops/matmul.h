#pragma once

#include "graph/builder.h"

namespace tpack {

struct MatMulParams {
  bool transpose_a = false;
  bool transpose_b = false;
};

/// y = op(a) op(b), for each matrix of the leading axes, which broadcast. Shapes: a [..., M, K], b [..., K,
/// N] -> y [..., M, N], each matrix transposed first if requested. The product of floats of 16 bits is
/// float32. Errors: ShapeError if K differs or the leading axes do not broadcast.
class MatMul final : public OpOf<MatMul, MatMulParams> {
 public:
  static constexpr const char* kType = "MatMul";
  static Schema<MatMulParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override;
  bool is_product() const override { return true; }
  double flops(const Node& n) const override;
};

Symbol matmul(Builder& b, Symbol x, Symbol y, MatMulParams params = {});

}  // namespace tpack
