#pragma once

#include <cstdint>
#include <span>

#include "graph/graph.h"

namespace tpack {

class KernelLibrary;

// Each pass is one file with one job: a graph that computes the same values at lower cost.

/// Rounds the factors of products, each value once, to a float type of 16 bits, for kernels that compute in
/// float32: the factors of matrix products, and for bfloat16 also of convolutions. After the gradient, so
/// that its products are also rounded.
Graph round_factors(const Graph& graph, DType type);

/// ReLU after max pooling instead of before it: the same values from a quarter of the elements; the mask of
/// the gradient is computed there too. Training runs this pass before the gradient.
Graph move_relu_after_pooling(const Graph& graph);

/// Sums the gradient that max pooling scatters over an image before scattering it: the same result from fewer
/// elements (for the bias gradients of a convolution before a pooling).
Graph sum_before_scatter(const Graph& graph);

/// Batch normalization as sweeps: one computes mean and variance, another one the affine map; the gradient
/// likewise. They then fuse with the nodes around them (ReLU, sums).
Graph lower_batch_norm(const Graph& graph);

/// In a program that changes no variable: a scale of each channel after a convolution, as batch normalization
/// has in inference, becomes part of the weights, if it depends on variables alone.
Graph fold_scales(const Graph& graph);

/// Fuses pointwise nodes after a product if the library's kernel of the product can compute them before
/// writing (KernelLibrary::fuses): a bias, and an activation after it.
Graph fuse_epilogues(const Graph& graph, const KernelLibrary& library);

/// Joins a convolution with the max pooling after it, and the gradient of a max pooling with that of the
/// weights before it, if the values in between have at least `least_bytes`.
Graph join_depth_first(const Graph& graph, int64_t least_bytes);

/// Pointwise nodes and reductions over one shape become sweeps: values in between are never stored.
Graph fuse_pointwise(const Graph& graph);

/// Stores values between kernels in the library's type of 16 bits (KernelLibrary::stored_type): images, and
/// factors of products. Kernels compute in float32. What becomes a variable or is fetched stays float32, with
/// everything that reaches it element by element. Nothing changes if that type is float32.
Graph store_half(const Graph& graph, const KernelLibrary& library);

/// In the path of a node that computes results of a sweep once more: after the path of that sweep.
inline constexpr const char* kRecomputed = "/Recomputed";
/// Computes results of sweeps once more where the backward pass needs them, from values that are needed there
/// anyway, as long as that lowers the peak: less memory, the same bits. After the passes that fuse, and after
/// the choice of layouts: a node has the choice of the one that it repeats.
Graph recompute_sweeps(const Graph& graph);

struct GraphPass {
  const char* name;
  Graph (*run)(const Graph& graph, const KernelLibrary& library);
};
/// The passes of a library with fused kernels, in order.
std::span<const GraphPass> fusing_passes();
/// The graph after all of them.
Graph fused(const Graph& graph, const KernelLibrary& library);

}  // namespace tpack
