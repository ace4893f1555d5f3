#pragma once

#include <functional>

#include "backend/device.h"
#include "backend/engine/tuner.h"
#include "backend/plan.h"
#include "graph/graph.h"

namespace tpack {

/// Chooses the layout and algorithm of every node of four-axis tensors, together, and for each direction of a
/// convolution separately: local search minimizes the sum of kernel times and reorders. The times of
/// convolutions are estimated by fixed rules; kDirect allows only direct convolutions. Kernels are cut into
/// `pieces`.
PlanSection choose_layouts(const Graph& graph, DeviceOptions::Algorithm algorithm, int pieces,
                           const KernelLibrary& library);

/// The same with measured times (kernels run on `queue`), which are compared with `rules`, the result of
/// choose_layouts with kAuto or kHeuristic. Nodes without a measurement keep the choice of `rules`.
/// `before_timing`: see Tuner.
PlanSection measure_layouts(
    const Graph& graph, const PlanSection& rules, Tuner& tuner, KernelQueue& queue,
    const KernelLibrary& library, const std::function<void()>& before_timing = [] {});

/// Checks that a section has choices for exactly the nodes that choose_layouts chooses for. Errors:
/// ConfigError with the first node that is missing or not in the graph.
void require_section_of(const Graph& graph, const PlanSection& section, const KernelLibrary& library);

}  // namespace tpack
