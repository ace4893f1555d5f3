#include "costs/label_range.h"

#include <memory>

#include "graph/pointwise.h"
#include "graph/structural.h"

namespace tpack {
namespace {

struct Interval {
  double least;
  double most;
};
constexpr Interval kProbability{-kLabelRounding, 1 + kLabelRounding};
constexpr Interval kSumOfAll{1 - kSumRounding, 1 + kSumRounding};

/// 0 / (is in the range), in one node, so that the checked labels can be found again.
pointwise::Expression check(DType type, const Interval& range) {
  using pointwise::Fn;
  pointwise::Expression e;
  e.inputs = 1;
  e.code = {{Fn::kInput, {0, -1, -1}},        {Fn::kConstant, {-1, -1, -1}, range.least},
            {Fn::kGreaterEqual, {0, 1, -1}},  {Fn::kConstant, {-1, -1, -1}, range.most},
            {Fn::kGreaterEqual, {3, 0, -1}},  {Fn::kMul, {2, 4, -1}},
            {Fn::kConstant, {-1, -1, -1}, 0}, {Fn::kDiv, {6, 5, -1}}};
  e.results = {7};
  e.types = {type};
  return e;
}

Symbol nan_outside(Builder& b, Symbol x, const Interval& range) {
  const auto op = std::make_shared<const pointwise::Pointwise>(check(b.float_type(), range));
  return b.stop_gradient(b.emit(op, {x}).out());
}

std::optional<Symbol> checked_by(const Node& node, const Interval& range) {
  const auto* op = op_cast<pointwise::Pointwise>(node);
  if (op == nullptr || !(op->expression() == check(node.out(0).dtype(), range))) return std::nullopt;
  return node.inputs[0];
}

}  // namespace

Symbol nan_outside_of_0_to_1(Builder& b, Symbol labels) { return nan_outside(b, labels, kProbability); }

std::optional<Symbol> labels_checked_by(const Node& node) { return checked_by(node, kProbability); }

Symbol nan_unless_distribution(Builder& b, Symbol labels) {
  const Symbol sums = nan_outside(b, b.reduce_sum(labels, {1}, Builder::Keep::kYes), kSumOfAll);
  return b.add(b.reduce_sum(nan_outside_of_0_to_1(b, labels), {1}), b.reshape(sums, {labels.shape()[0]}));
}

std::optional<Symbol> labels_summed_by(const Node& node) {
  const auto sums = checked_by(node, kSumOfAll);
  if (!sums || op_cast<Reduce>(*sums->node) == nullptr) return std::nullopt;
  return sums->node->inputs[0];
}

}  // namespace tpack
