#include "ops/matmul.h"

#include <algorithm>

#include "backend/passes/fused_ops.h"
#include "cpu/epilogue.h"
#include "cpu/kernel.h"
#include "cpu/onednn/onednn.h"
#include "cpu/onednn/primitive.h"
#include "cpu/piece_kernel.h"
#include "cpu/products/pair_matmul.h"

namespace tpack::cpu {
namespace {

using Dims = dnnl::memory::dims;
using Desc = dnnl::memory::desc;
using Operand = PrimitiveKernel::Operand;

constexpr double kFlopGrain = 1e6;  // floating-point operations that are worth waking a thread for

/// A range of rows, of columns, or of the first axis.
struct Range {
  int64_t begin = 0;
  int64_t size = 0;
};

/// Which part of each matrix: all of the leading axes but the first one, which `first` cuts.
struct Cut {
  Range first;
  Range rows;
  Range columns;
};

/// The same part of matrices in row-major order, or of their transposes, with `rank` axes in all. Nothing is
/// copied: oneDNN accepts any strides, and broadcasts axes of size 1.
struct Block {
  Desc md;
  uint64_t offset = 0;  // bytes from the matrices to the block
};
Block block_of(const TensorSpec& spec, bool transposed, const Cut& part, size_t rank) {
  const Shape& shape = spec.shape;
  Dims sizes(rank, 1);
  Dims strides(rank, 1);
  const size_t added = rank - shape.rank();
  int64_t step = 1;
  for (size_t axis = rank; axis-- > added;) {
    sizes[axis] = shape[static_cast<int>(axis - added)];
    strides[axis] = step;
    step *= sizes[axis];
  }
  for (size_t axis = 0; axis < added; ++axis) strides[axis] = step;
  if (transposed) std::swap(strides[rank - 2], strides[rank - 1]);
  sizes[rank - 2] = part.rows.size;
  sizes[rank - 1] = part.columns.size;
  int64_t begin = part.rows.begin * strides[rank - 2] + part.columns.begin * strides[rank - 1];
  if (rank > 2 && sizes[0] > 1) {
    begin += part.first.begin * strides[0];
    sizes[0] = part.first.size;
  }
  return {{sizes, type_of(spec.dtype), strides}, static_cast<uint64_t>(begin) * size_of(spec.dtype)};
}

/// y = a b with its epilogue, cut into blocks: of rows or columns of y, or along the first axis if there are
/// more matrices than one.
struct Product {
  const Node& node;
  MatMulParams params;
  Epilogue epilogue;

  size_t rank() const { return node.outputs[0].shape.rank(); }
  int64_t size(int from_end) const { return node.outputs[0].shape[static_cast<int>(rank()) - from_end]; }
  int64_t rows() const { return size(2); }
  int64_t columns() const { return size(1); }
  int64_t first() const { return rank() > 2 ? node.outputs[0].shape[0] : 1; }
  /// Factor 0 or 1: if the other one has 16 bits, it is rounded before.
  TensorSpec factor(size_t i) const {
    const DType other = node.inputs[1 - i].dtype();
    return {is_half(other) ? other : node.inputs[i].dtype(), node.inputs[i].shape()};
  }
  int64_t inner() const {
    const Shape& a = node.inputs[0].shape();
    return a[static_cast<int>(a.rank()) - (params.transpose_a ? 2 : 1)];
  }
};

Piece piece_of(const Product& product, const Cut& part) {
  dnnl::primitive_attr attributes = user_scratchpad();
  if (product.epilogue.relu) append_relu(attributes);
  const Node& n = product.node;
  const Range inner = {0, product.inner()};
  const size_t rank = product.rank();
  const Block a =
      block_of(product.factor(0), product.params.transpose_a, {part.first, part.rows, inner}, rank);
  const Block b =
      block_of(product.factor(1), product.params.transpose_b, {part.first, inner, part.columns}, rank);
  const Block y = block_of(n.outputs[0], false, part, rank);
  const Desc bias({1, part.columns.size}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ab);
  const dnnl::matmul::desc desc = product.epilogue.bias ? dnnl::matmul::desc(a.md, b.md, bias, y.md)
                                                        : dnnl::matmul::desc(a.md, b.md, y.md);
  const dnnl::matmul::primitive_desc pd(desc, attributes, engine());
  std::vector<Operand> in = {{DNNL_ARG_SRC, a.md}, {DNNL_ARG_WEIGHTS, b.md}};
  Piece piece;
  piece.in = {a.offset, b.offset};
  if (product.epilogue.bias) {
    in.push_back({DNNL_ARG_BIAS, bias});
    piece.in.push_back(static_cast<uint64_t>(part.columns.begin) * sizeof(float));
  }
  piece.out = {y.offset};
  piece.scratch_bytes = pd.scratchpad_desc().get_size();
  piece.kernel = std::make_unique<PrimitiveKernel>(
      dnnl::matmul(pd), in, std::vector<Operand>{{DNNL_ARG_DST, y.md}}, pd.scratchpad_desc());
  return piece;
}

/// The matrix whose lines are cut is read once; the other one is read once per piece. So the longer side of y
/// is cut, at multiples of 16 lines; of several matrices, the first axis.
std::vector<Piece> pieces_of(const Product& product, int pieces) {
  const Cut whole = {{0, product.first()}, {0, product.rows()}, {0, product.columns()}};
  const double flops = product.node.op->flops(product.node);
  std::vector<Piece> all;
  if (product.first() > 1) {
    const int64_t count = flops < kFlopGrain * pieces ? 1 : std::min<int64_t>(pieces, product.first());
    for (int64_t i = 0; i < count; ++i) {
      const int64_t begin = product.first() * i / count;
      Cut part = whole;
      part.first = {begin, product.first() * (i + 1) / count - begin};
      all.push_back(piece_of(product, part));
    }
    return all;
  }
  constexpr int64_t kLines = 16;
  const bool by_columns = product.columns() >= product.rows();
  const int64_t lines = by_columns ? product.columns() : product.rows();
  const int64_t blocks = (lines + kLines - 1) / kLines;
  const int64_t count = flops < kFlopGrain * pieces ? 1 : std::min<int64_t>(pieces, blocks);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = blocks * i / count * kLines;
    const Range range = {begin, std::min(lines, blocks * (i + 1) / count * kLines) - begin};
    Cut part = whole;
    if (by_columns) part.columns = range;
    if (!by_columns) part.rows = range;
    all.push_back(piece_of(product, part));
  }
  return all;
}

PreparedKernel prepare_product(const KernelRequest& request) {
  const Node& n = request.node;
  const auto* fused = op_cast<Fused>(n);
  const auto& op = dynamic_cast<const MatMul&>(fused != nullptr ? *fused->product() : *n.op);
  const Product product{n, op.params(), epilogue_of(*n.op, n.inputs).value()};
  if (pair_matmul_fits(n, product.params)) return pair_matmul(request, product.params, product.epilogue);
  auto kernel = std::make_unique<PieceKernel>(pieces_of(product, request.pieces));
  const uint64_t scratch = kernel->scratch_bytes();
  PreparedKernel prepared = plain_kernel(request, std::move(kernel), scratch);
  for (const size_t i : {0U, 1U}) prepared.in[i] = make_format(product.factor(i), Layout::kPlain);
  return prepared;
}

const KernelRegistration kMatMul("MatMul", prepare_product, LayoutRule::kPlain, nullptr, kWithHalf);
const KernelRegistration kFusedMatMul("FusedMatMul", prepare_product, LayoutRule::kPlain, nullptr, kWithHalf);

}  // namespace
}  // namespace tpack::cpu
