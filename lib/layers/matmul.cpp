#include "ops/matmul.h"

#include "layers/layer_shapes.h"
#include "model/layer.h"

namespace tpack {
namespace {

/// Shapes: a [..., M, K], b [..., K, N] -> y [..., M, N], each matrix transposed first if requested; the axes
/// before the matrices broadcast.
class MatMulLayer final : public Layer {
 public:
  using Params = MatMulParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Matrix products of the last two axes of its inputs, `input: [a, b]`; the axes before them "
               "are batches of matrices.")
        .example("MatMul: {transpose_b: true}")
        .field("transpose_a", &Params::transpose_a, "transpose the first input")
        .field("transpose_b", &Params::transpose_b, "transpose the second input");
  }
  explicit MatMulLayer(Params p) : p_(p) {}

  Symbol build(Builder& b, std::span<const Symbol> in) const override {
    check_input_count(b, in, 2, "two matrices");
    return matmul(b, in[0], in[1], p_);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Layer, MatMulLayer, "MatMul");

}  // namespace
}  // namespace tpack
