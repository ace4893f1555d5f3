// Layers that reduce axes, a row each.
#include <vector>

#include "layers/layer_shapes.h"
#include "model/layer.h"
#include "ops/concat.h"
#include "ops/pad.h"

namespace tpack {
namespace {

using Axes = std::vector<int>;
using Keep = Builder::Keep;

struct ReductionRow {
  const char* summary;
  const char* example;
  Symbol (*of)(Builder& b, Symbol x, const Axes& axes, Keep keep);
};

template <const ReductionRow& kRow>
class ReductionLayer final : public Layer {
 public:
  struct Params {
    std::vector<int64_t> axes;
    bool keep_dims = false;
  };
  static Schema<Params> schema() {
    return Schema<Params>(kRow.summary)
        .example(kRow.example)
        .field("axes", &Params::axes,
               "axes; 0 is the batch, 1 the channels, negative ones count from the end; default: all, for "
               "one number")
        .field("keep_dims", &Params::keep_dims, "keep the reduced axes, with size 1");
  }
  explicit ReductionLayer(Params p) : p_(std::move(p)) {}

  Symbol build(Builder& b, Symbol x) const override {
    return kRow.of(b, x, axes_of(b, p_.axes, x), p_.keep_dims ? Keep::kYes : Keep::kNo);
  }

 private:
  Params p_;
};

/// The product over an axis, which stays with size 1: multiplies halves, so that factors of 0 have the right
/// gradient.
Symbol product(Builder& b, Symbol x, int axis) {
  while (x.shape()[axis] > 1) {
    const int64_t size = x.shape()[axis];
    const Shape half = x.shape().with(axis, size / 2);
    std::vector<int64_t> begin(x.shape().rank(), 0);
    const Symbol first = slice(b, x, begin, half);
    begin[static_cast<size_t>(axis)] = size / 2;
    Symbol halves = b.mul(first, slice(b, x, begin, half));
    if (size % 2 != 0) {
      begin[static_cast<size_t>(axis)] = size - 1;
      const std::vector<Symbol> parts = {halves, slice(b, x, begin, x.shape().with(axis, 1))};
      halves = concat(b, parts, axis);
    }
    x = halves;
  }
  return x;
}

Symbol product_of_all(Builder& b, Symbol x, const Axes& given, Keep keep) {
  Axes axes = given;
  if (axes.empty()) {
    for (int axis = 0; axis < static_cast<int>(x.shape().rank()); ++axis) axes.push_back(axis);
  }
  Symbol y = b.to_float(x);
  for (const int axis : axes) y = product(b, y, axis);
  return b.reduce_sum(y, axes, keep);  // over axes of size 1: removes them
}

Symbol log_sum_exp(Builder& b, Symbol x, const Axes& axes, Keep keep) {
  const Symbol floats = b.to_float(x);
  const Symbol largest = b.stop_gradient(b.reduce_max(floats, axes, Keep::kYes));
  const Symbol sum = b.reduce_sum(b.exp(b.sub(floats, largest)), axes, Keep::kYes);
  const Symbol y = b.add(largest, b.log(sum));
  return keep == Keep::kYes ? y : b.reduce_sum(y, axes);  // over axes of size 1: removes them
}

constexpr ReductionRow kReduceSum{"Sum over axes.", "ReduceSum: {axes: [1]}",
                                  [](Builder& b, Symbol x, const Axes& axes, Keep keep) {
                                    return b.reduce_sum(b.to_float(x), axes, keep);
                                  }};
/// Shapes: x [...] -> y without the axes, or with size 1 there.
using ReduceSum = ReductionLayer<kReduceSum>;
TPACK_REGISTER(Layer, ReduceSum, "ReduceSum");

constexpr ReductionRow kReduceMean{"Mean over axes.", "ReduceMean: {axes: [-1]}",
                                   [](Builder& b, Symbol x, const Axes& axes, Keep keep) {
                                     return b.reduce_mean(b.to_float(x), axes, keep);
                                   }};
/// Shapes: x [...] -> y without the axes, or with size 1 there.
using ReduceMean = ReductionLayer<kReduceMean>;
TPACK_REGISTER(Layer, ReduceMean, "ReduceMean");

constexpr ReductionRow kReduceMax{"Largest element over axes.", "ReduceMax: {axes: [2, 3]}",
                                  [](Builder& b, Symbol x, const Axes& axes, Keep keep) {
                                    return b.reduce_max(b.to_float(x), axes, keep);
                                  }};
/// Shapes: x [...] -> y without the axes, or with size 1 there.
using ReduceMax = ReductionLayer<kReduceMax>;
TPACK_REGISTER(Layer, ReduceMax, "ReduceMax");

constexpr ReductionRow kReduceMin{"Smallest element over axes.", "ReduceMin: {axes: [2, 3]}",
                                  [](Builder& b, Symbol x, const Axes& axes, Keep keep) {
                                    return b.neg(b.reduce_max(b.neg(b.to_float(x)), axes, keep));
                                  }};
/// Shapes: x [...] -> y without the axes, or with size 1 there.
using ReduceMin = ReductionLayer<kReduceMin>;
TPACK_REGISTER(Layer, ReduceMin, "ReduceMin");

constexpr ReductionRow kReduceAny{"1 where any element over axes is not 0, else 0.",
                                  "ReduceAny: {axes: [2, 3]}",
                                  [](Builder& b, Symbol x, const Axes& axes, Keep keep) {
                                    return b.reduce_max(b.sub(1.0, b.to_float(b.equal(x, 0.0))), axes, keep);
                                  }};
/// Shapes: x [...] -> y without the axes, or with size 1 there. No gradient flows back.
using ReduceAny = ReductionLayer<kReduceAny>;
TPACK_REGISTER(Layer, ReduceAny, "ReduceAny");

constexpr ReductionRow kReduceProd{"Product over axes.", "ReduceProd: {axes: [1]}", product_of_all};
/// Shapes: x [...] -> y without the axes, or with size 1 there.
using ReduceProd = ReductionLayer<kReduceProd>;
TPACK_REGISTER(Layer, ReduceProd, "ReduceProd");

constexpr ReductionRow kLogSumExp{"Logarithm of the sum of exponentials over axes.", "LogSumExp: {axes: [1]}",
                                  log_sum_exp};
/// max + log(sum(exp(x - max))): no overflow. Shapes: x [...] -> y without the axes, or with size 1 there.
using LogSumExp = ReductionLayer<kLogSumExp>;
TPACK_REGISTER(Layer, LogSumExp, "LogSumExp");

}  // namespace
}  // namespace tpack
