#include "ops/matmul.h"

#include <algorithm>

#include "backend/passes/fused_ops.h"
#include "cpu/kernel.h"
#include "cpu/onednn.h"
#include "cpu/piece_kernel.h"
#include "cpu/primitive.h"

namespace tpack::cpu {
namespace {

using Dims = dnnl::memory::dims;
using Desc = dnnl::memory::desc;
using Operand = PrimitiveKernel::Operand;

constexpr double kFlopGrain = 1e6;  // floating-point operations that are worth waking a thread for

/// A range of rows or columns.
struct Range {
  int64_t begin = 0;
  int64_t size = 0;
};

/// Rows and columns of a row-major matrix, or of its transpose. Nothing is copied: oneDNN accepts any
/// strides.
struct Block {
  Desc md;
  uint64_t offset = 0;  // bytes from the matrix to the block
};
Block block_of(const Shape& shape, bool transposed, const Range& rows, const Range& columns) {
  const Dims strides = transposed ? Dims{1, shape[1]} : Dims{shape[1], 1};
  const auto first = static_cast<uint64_t>(rows.begin * strides[0] + columns.begin * strides[1]);
  return {{Dims{rows.size, columns.size}, dnnl::memory::data_type::f32, strides}, first * sizeof(float)};
}

/// y = activation(a b + bias), cut into blocks of rows or columns of y.
struct Product {
  const Node& node;
  MatMulParams params;
  bool bias = false;
  Activation activation = Activation::kNone;

  int64_t rows() const { return node.outputs[0].shape[0]; }
  int64_t columns() const { return node.outputs[0].shape[1]; }
  int64_t inner() const { return node.inputs[0].shape()[params.transpose_a ? 0 : 1]; }
};

Piece piece_of(const Product& product, const Range& rows, const Range& columns) {
  dnnl::primitive_attr attributes = user_scratchpad();
  if (product.activation == Activation::kRelu) append_relu(attributes);
  const Node& n = product.node;
  const Range inner = {0, product.inner()};
  const Block a = block_of(n.inputs[0].shape(), product.params.transpose_a, rows, inner);
  const Block b = block_of(n.inputs[1].shape(), product.params.transpose_b, inner, columns);
  const Block y = block_of(n.outputs[0].shape, false, rows, columns);
  const Desc bias({1, columns.size}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ab);
  const dnnl::matmul::desc desc =
      product.bias ? dnnl::matmul::desc(a.md, b.md, bias, y.md) : dnnl::matmul::desc(a.md, b.md, y.md);
  const dnnl::matmul::primitive_desc pd(desc, attributes, engine());
  std::vector<Operand> in = {{DNNL_ARG_SRC, a.md}, {DNNL_ARG_WEIGHTS, b.md}};
  Piece piece;
  piece.in = {a.offset, b.offset};
  if (product.bias) {
    in.push_back({DNNL_ARG_BIAS, bias});
    piece.in.push_back(static_cast<uint64_t>(columns.begin) * sizeof(float));
  }
  piece.out = {y.offset};
  piece.scratch_bytes = pd.scratchpad_desc().get_size();
  piece.kernel = std::make_unique<PrimitiveKernel>(
      dnnl::matmul(pd), in, std::vector<Operand>{{DNNL_ARG_DST, y.md}}, pd.scratchpad_desc());
  return piece;
}

/// The matrix whose lines are cut is read once; the other one is read once per piece. So the longer side of y
/// is cut, at multiples of 16 lines.
std::vector<Piece> pieces_of(const Product& product, int pieces) {
  constexpr int64_t kLines = 16;
  const bool by_columns = product.columns() >= product.rows();
  const int64_t lines = by_columns ? product.columns() : product.rows();
  const int64_t blocks = (lines + kLines - 1) / kLines;
  const double flops = 2.0 * static_cast<double>(product.rows() * product.columns() * product.inner());
  const int64_t count = flops < kFlopGrain * pieces ? 1 : std::min<int64_t>(pieces, blocks);
  std::vector<Piece> all;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = blocks * i / count * kLines;
    const Range part = {begin, std::min(lines, blocks * (i + 1) / count * kLines) - begin};
    all.push_back(by_columns ? piece_of(product, {0, product.rows()}, part)
                             : piece_of(product, part, {0, product.columns()}));
  }
  return all;
}

PreparedKernel prepare_pieces(const KernelRequest& request, const Product& product) {
  auto kernel = std::make_unique<PieceKernel>(pieces_of(product, request.pieces));
  const uint64_t scratch = kernel->scratch_bytes();
  return plain_kernel(request, std::move(kernel), scratch);
}

PreparedKernel prepare_product(const KernelRequest& request) {
  return prepare_pieces(request, {request.node, op_cast<MatMul>(request.node)->params()});
}

PreparedKernel prepare_fused_product(const KernelRequest& request) {
  const FusedMatMulParams& p = op_cast<FusedMatMul>(request.node)->params();
  return prepare_pieces(request, {request.node, p.product, true, p.activation});
}

const KernelRegistration kMatMul("MatMul", prepare_product, LayoutRule::kPlain);
const KernelRegistration kFusedMatMul("FusedMatMul", prepare_fused_product, LayoutRule::kPlain);

}  // namespace
}  // namespace tpack::cpu
