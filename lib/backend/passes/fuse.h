#pragma once

#include "graph/graph.h"

namespace tpack {

/// ReLU after max pooling instead of before it: the same values from a quarter of the elements, and the mask
/// of the gradient is taken there too. Run before the gradient.
Graph move_relu_behind_pooling(const Graph& graph);

/// The sum over an image of what max pooling's gradient scatters, taken before scattering: the same numbers
/// from fewer elements (bias gradients of a convolution in front of a pooling).
Graph sum_before_scatter(const Graph& graph);

/// Batch normalization in terms of sweeps: sums of shifted values and of their squares in one, the affine map
/// in another; the gradient likewise. They then fuse with what is around them (ReLU, sums).
Graph lower_batch_norm(const Graph& graph);

/// A bias, and a ReLU after it, become part of the convolution or matrix product before them.
Graph fuse_bias_and_activation(const Graph& graph);

/// Pointwise nodes and reductions over one shape become sweeps: what lies on the way is never stored.
Graph fuse_pointwise(const Graph& graph);

}  // namespace tpack
