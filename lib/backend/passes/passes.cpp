#include "backend/passes/passes.h"

#include <array>

#include "graph/passes/simplify.h"

namespace tpack {
namespace {

// Smaller values stay in the cache as they are.
constexpr int64_t kMinBytesToFuse = int64_t{6} << 20;

Graph simplified(const Graph& graph) { return simplify(graph, Stops::kDrop); }
Graph joined_depth_first(const Graph& graph) { return join_depth_first(graph, kMinBytesToFuse); }

constexpr std::array<GraphPass, 9> kPasses = {{{"simplify", simplified},
                                               {"move_relu_after_pooling", move_relu_after_pooling},
                                               {"sum_before_scatter", sum_before_scatter},
                                               {"lower_batch_norm", lower_batch_norm},
                                               {"simplify", simplified},
                                               {"fuse_bias_and_activation", fuse_bias_and_activation},
                                               {"join_depth_first", joined_depth_first},
                                               {"fuse_pointwise", fuse_pointwise},
                                               {"simplify", simplified}}};

}  // namespace

std::span<const GraphPass> fusing_passes() { return kPasses; }

Graph fused(const Graph& graph) {
  Graph result = kPasses.front().run(graph);
  for (const GraphPass& pass : std::span(kPasses).subspan(1)) result = pass.run(result);
  return result;
}

}  // namespace tpack
