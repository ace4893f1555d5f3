#include "backend/passes/passes.h"

#include <array>

#include "graph/passes/simplify.h"

namespace tpack {
namespace {

// Smaller values stay in the cache anyway.
constexpr int64_t kMinBytesToFuse = int64_t{6} << 20;

Graph simplified(const Graph& graph) { return simplify(graph, Stops::kDrop); }
Graph joined_depth_first(const Graph& graph) { return join_depth_first(graph, kMinBytesToFuse); }

template <Graph (*kPass)(const Graph&)>
Graph for_all(const Graph& graph, const KernelLibrary& /*library*/) {
  return kPass(graph);
}

constexpr std::array<GraphPass, 11> kPasses = {{{"simplify", for_all<simplified>},
                                                {"move_relu_after_pooling", for_all<move_relu_after_pooling>},
                                                {"sum_before_scatter", for_all<sum_before_scatter>},
                                                {"lower_batch_norm", for_all<lower_batch_norm>},
                                                {"simplify", for_all<simplified>},
                                                {"fold_scales", for_all<fold_scales>},
                                                {"fuse_epilogues", fuse_epilogues},
                                                {"fuse_pointwise", for_all<fuse_pointwise>},
                                                {"store_half", store_half},
                                                {"join_depth_first", for_all<joined_depth_first>},
                                                {"simplify", for_all<simplified>}}};

}  // namespace

std::span<const GraphPass> fusing_passes() { return kPasses; }

Graph fused(const Graph& graph, const KernelLibrary& library) {
  Graph result = kPasses.front().run(graph, library);
  for (const GraphPass& pass : std::span(kPasses).subspan(1)) result = pass.run(result, library);
  return result;
}

}  // namespace tpack
