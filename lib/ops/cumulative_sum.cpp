#include "ops/cumulative_sum.h"

namespace tpack {

Schema<CumulativeSumParams> CumulativeSum::schema() {
  return Schema<CumulativeSumParams>("Cumulative sums along an axis.")
      .field("axis", &CumulativeSumParams::axis, "axis to sum, from 0")
      .field("reverse", &CumulativeSumParams::reverse, "sum from the end");
}

std::vector<TensorSpec> CumulativeSum::infer(std::span<const TensorSpec> in) const {
  check_float(in[0], "the input of a cumulative sum");
  if (params().axis < 0 || params().axis >= static_cast<int>(in[0].shape.rank()))
    throw ShapeError("axis " + std::to_string(params().axis) + " of a tensor " + in[0].str());
  return {in[0]};
}

/// x[i] contributes to y[i] and all later elements.
std::vector<Symbol> CumulativeSum::gradient(Builder& b, const Node& /*n*/, std::span<const Symbol> dy) const {
  return {cumulative_sum(b, dy[0], {params().axis, !params().reverse})};
}

Symbol cumulative_sum(Builder& b, Symbol x, const CumulativeSumParams& params) {
  return b.emit<CumulativeSum>(params, {x}).out();
}

TPACK_REGISTER(Op, CumulativeSum, "CumulativeSum");

}  // namespace tpack
