#include "ops/matmul.h"

#include "backend/cpu/kernel.h"
#include "backend/cpu/primitive.h"
#include "backend/passes/fused_ops.h"

namespace tpack::cpu {
namespace {

using Dims = dnnl::memory::dims;
using Desc = dnnl::memory::desc;
using Operand = PrimitiveKernel::Operand;

/// A row-major matrix as it stands, or read transposed: no copy, oneDNN takes any strides.
Desc matrix(const Shape& shape, bool transposed) {
  const auto f32 = dnnl::memory::data_type::f32;
  if (transposed) return {Dims{shape[1], shape[0]}, f32, Dims{1, shape[1]}};
  return {Dims{shape[0], shape[1]}, f32, Dims{shape[1], 1}};
}

PreparedKernel prepare(const Node& n, const MatMulParams& params, bool bias, Activation activation) {
  dnnl::primitive_attr attributes = user_scratchpad();
  if (activation == Activation::kRelu) {
    dnnl::post_ops after;
    after.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
    attributes.set_post_ops(after);
  }
  const Desc a = matrix(n.inputs[0].shape(), params.transpose_a);
  const Desc b = matrix(n.inputs[1].shape(), params.transpose_b);
  const Desc y = matrix(n.outputs[0].shape, false);
  const Desc bias_row({1, n.outputs[0].shape[1]}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ab);
  const dnnl::matmul::desc desc = bias ? dnnl::matmul::desc(a, b, bias_row, y) : dnnl::matmul::desc(a, b, y);
  const dnnl::matmul::primitive_desc pd(desc, attributes, engine());
  std::vector<Operand> in = {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}};
  if (bias) in.push_back({DNNL_ARG_BIAS, bias_row});
  auto kernel = std::make_unique<PrimitiveKernel>(
      dnnl::matmul(pd), in, std::vector<Operand>{{DNNL_ARG_DST, y}}, pd.scratchpad_desc());
  return {std::move(kernel),
          input_formats(n, Layout::kPlain),
          output_formats(n, Layout::kPlain),
          pd.scratchpad_desc().get_size(),
          {}};
}

PreparedKernel prepare_plain(const KernelRequest& request) {
  return prepare(request.node, op_cast<MatMul>(request.node)->params(), false, Activation::kNone);
}

PreparedKernel prepare_fused(const KernelRequest& request) {
  const FusedMatMulParams& p = op_cast<FusedMatMul>(request.node)->params();
  return prepare(request.node, p.product, true, p.activation);
}

const Registration kPlain("MatMul", prepare_plain, LayoutRule::kPlain);
const Registration kFused("FusedMatMul", prepare_fused, LayoutRule::kPlain);

}  // namespace
}  // namespace tpack::cpu
