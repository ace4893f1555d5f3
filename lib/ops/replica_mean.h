#pragma once

#include "graph/builder.h"

namespace tpack {

struct ReplicaMeanParams {};

/// The mean of a value over all replicas that train together, with equal weights; with one replica, the value
/// itself. Programs of all replicas must have these nodes in the same order. Shapes: x -> y as x. The
/// gradient is the mean of the gradients, because the gradients of replicas are averaged after backward.
class ReplicaMean final : public OpOf<ReplicaMean, ReplicaMeanParams> {
 public:
  static constexpr const char* kType = "ReplicaMean";
  static Schema<ReplicaMeanParams> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override;
};

Symbol replica_mean(Builder& b, Symbol x);

}  // namespace tpack
