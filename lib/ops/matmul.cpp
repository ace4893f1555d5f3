#include "ops/matmul.h"

namespace tpack {

Schema<MatMulParams> MatMul::schema() {
  return Schema<MatMulParams>("Product of two matrices.")
      .field("transpose_a", &MatMulParams::transpose_a, "takes the first one transposed")
      .field("transpose_b", &MatMulParams::transpose_b, "takes the second one transposed");
}

std::vector<TensorSpec> MatMul::infer(std::span<const TensorSpec> in) const {
  const Shape& a = in[0].shape;
  const Shape& b = in[1].shape;
  if (a.rank() != 2 || b.rank() != 2) {
    throw ShapeError("a matrix product needs two matrices, not " + a.str() + " and " + b.str());
  }
  check_float(in[0], "a factor of a matrix product");
  check_float(in[1], "a factor of a matrix product");
  const int64_t inner_a = a[params().transpose_a ? 0 : 1];
  const int64_t inner_b = b[params().transpose_b ? 1 : 0];
  if (inner_a != inner_b) {
    throw ShapeError("a matrix product of " + a.str() + " and " + b.str() + ": inner sizes " +
                     std::to_string(inner_a) + " and " + std::to_string(inner_b) + " differ");
  }
  return {{in[0].dtype, Shape{a[params().transpose_a ? 1 : 0], b[params().transpose_b ? 0 : 1]}}};
}

std::vector<Symbol> MatMul::gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const {
  const Symbol x = n.inputs[0];
  const Symbol y = n.inputs[1];
  const bool tx = params().transpose_a;
  const bool ty = params().transpose_b;
  // With z = op(x) op(y): d op(x) = dz op(y)^T and d op(y) = op(x)^T dz, transposed back where op transposes.
  const Symbol dx = tx ? matmul(b, y, dy[0], {ty, true}) : matmul(b, dy[0], y, {false, !ty});
  const Symbol dyy = ty ? matmul(b, dy[0], x, {true, tx}) : matmul(b, x, dy[0], {!tx, false});
  return {dx, dyy};
}

double MatMul::flops(const Node& n) const {
  const Shape& a = n.inputs[0].shape();
  return 2.0 * static_cast<double>(n.outputs[0].shape.elements()) *
         static_cast<double>(a[params().transpose_a ? 0 : 1]);
}

Symbol matmul(Builder& b, Symbol x, Symbol y, MatMulParams params) {
  return b.emit<MatMul>(params, {x, y}).out();
}

TPACK_REGISTER(Op, MatMul, "MatMul");

}  // namespace tpack
