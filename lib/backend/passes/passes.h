#pragma once

#include <span>

#include "graph/graph.h"

namespace tpack {

// Each pass is one file with one job: the same values from a graph that costs less.

/// ReLU after max pooling instead of before it: the same values from a quarter of the elements, and the mask
/// of the gradient is taken there too. Training runs it before the gradient.
Graph move_relu_after_pooling(const Graph& graph);

/// The sum over an image of what max pooling's gradient scatters, taken before scattering: the same numbers
/// from fewer elements (bias gradients of a convolution in front of a pooling).
Graph sum_before_scatter(const Graph& graph);

/// Batch normalization in terms of sweeps: sums of shifted values and of their squares in one, the affine map
/// in another; the gradient likewise. They then fuse with the nodes around them (ReLU, sums).
Graph lower_batch_norm(const Graph& graph);

/// A bias, and a ReLU after it, become part of the convolution or matrix product before them.
Graph fuse_bias_and_activation(const Graph& graph);

/// Joins a convolution with the max pooling after it, and the gradient of a max pooling with that of the
/// weights before it, where the values between have at least `least_bytes`.
Graph join_depth_first(const Graph& graph, int64_t least_bytes);

/// Pointwise nodes and reductions over one shape become sweeps: values on the way are never stored.
Graph fuse_pointwise(const Graph& graph);

struct GraphPass {
  const char* name;
  Graph (*run)(const Graph& graph);
};
/// What a backend with fused kernels runs, in order.
std::span<const GraphPass> fusing_passes();
/// The graph after all of them.
Graph fused(const Graph& graph);

}  // namespace tpack
