#pragma once

#include "graph/builder.h"

namespace tpack {

struct CumulativeSumParams {
  int axis = 0;
  bool reverse = false;
};

/// y[i] = x[0] + ... + x[i] along an axis; in reverse, x[i] + ... + x[n - 1]. Shapes: x any -> y same.
class CumulativeSum final : public OpOf<CumulativeSum, CumulativeSumParams> {
 public:
  static constexpr const char* kType = "CumulativeSum";
  static Schema<CumulativeSumParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override;
};

Symbol cumulative_sum(Builder& b, Symbol x, const CumulativeSumParams& params);

}  // namespace tpack
