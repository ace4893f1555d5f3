#include "ops/matmul.h"

#include "graph/pointwise.h"

namespace tpack {

Schema<MatMulParams> MatMul::schema() {
  return Schema<MatMulParams>("Product of matrices.")
      .field("transpose_a", &MatMulParams::transpose_a, "transpose the first factor")
      .field("transpose_b", &MatMulParams::transpose_b, "transpose the second factor");
}

namespace {

/// The axes before the matrices.
Shape leading(const Shape& shape) {
  return Shape(std::vector<int64_t>(shape.sizes().begin(), shape.sizes().end() - 2));
}

/// The number of rows or columns of the matrices of a shape, after the requested transposition.
int64_t rows_of(const Shape& shape, bool transposed) {
  const auto rank = static_cast<int>(shape.rank());
  return shape[transposed ? rank - 1 : rank - 2];
}
int64_t columns_of(const Shape& shape, bool transposed) { return rows_of(shape, !transposed); }

}  // namespace

std::vector<TensorSpec> MatMul::infer(std::span<const TensorSpec> in) const {
  const Shape& a = in[0].shape;
  const Shape& b = in[1].shape;
  if (a.rank() < 2 || b.rank() < 2) {
    throw ShapeError("a matrix product needs matrices, not " + a.str() + " and " + b.str());
  }
  check_float(in[0], "a factor of a matrix product");
  check_float(in[1], "a factor of a matrix product");
  const int64_t inner_a = columns_of(a, params().transpose_a);
  const int64_t inner_b = rows_of(b, params().transpose_b);
  if (inner_a != inner_b) {
    throw ShapeError("a matrix product of " + a.str() + " and " + b.str() + ": inner sizes " +
                     std::to_string(inner_a) + " and " + std::to_string(inner_b) + " differ");
  }
  const Shape matrices = broadcast(leading(a), leading(b));
  std::vector<int64_t> sizes(matrices.sizes().begin(), matrices.sizes().end());
  sizes.push_back(rows_of(a, params().transpose_a));
  sizes.push_back(columns_of(b, params().transpose_b));
  return {{product_type(in[0].dtype), Shape(sizes)}};
}

std::vector<Symbol> MatMul::gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const {
  const Symbol x = n.inputs[0];
  const Symbol y = n.inputs[1];
  const bool tx = params().transpose_a;
  const bool ty = params().transpose_b;
  // With z = op(x) op(y): d op(x) = dz op(y)^T and d op(y) = op(x)^T dz, transposed back where op transposes.
  const Symbol dx = tx ? matmul(b, y, dy[0], {ty, true}) : matmul(b, dy[0], y, {false, !ty});
  const Symbol dyy = ty ? matmul(b, dy[0], x, {true, tx}) : matmul(b, x, dy[0], {!tx, false});
  return {b.sum_to(dx, x.shape()), b.sum_to(dyy, y.shape())};
}

double MatMul::flops(const Node& n) const {
  return 2.0 * static_cast<double>(n.outputs[0].shape.elements()) *
         static_cast<double>(columns_of(n.inputs[0].shape(), params().transpose_a));
}

Symbol matmul(Builder& b, Symbol x, Symbol y, MatMulParams params) {
  return b.emit<MatMul>(params, {x, y}).out();
}

TPACK_REGISTER(Op, MatMul, "MatMul");

}  // namespace tpack
