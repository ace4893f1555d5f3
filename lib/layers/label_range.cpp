#include "layers/label_range.h"

#include <memory>

#include "graph/pointwise.h"

namespace tpack {
namespace {

/// 0 / (is from 0 to 1), in one node, so that its labels are found again.
pointwise::Expression check(DType type) {
  using pointwise::Fn;
  pointwise::Expression e;
  e.inputs = 1;
  e.code = {{Fn::kInput, {0, -1, -1}},        {Fn::kConstant, {-1, -1, -1}, -kLabelRounding},
            {Fn::kGreaterEqual, {0, 1, -1}},  {Fn::kConstant, {-1, -1, -1}, 1 + kLabelRounding},
            {Fn::kGreaterEqual, {3, 0, -1}},  {Fn::kMul, {2, 4, -1}},
            {Fn::kConstant, {-1, -1, -1}, 0}, {Fn::kDiv, {6, 5, -1}}};
  e.results = {7};
  e.types = {type};
  return e;
}

}  // namespace

Symbol nan_outside_of_0_to_1(Builder& b, Symbol labels) {
  const auto op = std::make_shared<const pointwise::Pointwise>(check(b.float_type()));
  return b.stop_gradient(b.emit(op, {labels}).out());
}

std::optional<Symbol> labels_checked_by(const Node& node) {
  const auto* op = op_cast<pointwise::Pointwise>(node);
  if (op == nullptr || !(op->expression() == check(node.out(0).dtype()))) return std::nullopt;
  return node.inputs[0];
}

}  // namespace tpack
