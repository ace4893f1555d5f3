#pragma once

#include "backend/cpu/tuner.h"
#include "backend/device.h"
#include "backend/plan.h"
#include "graph/graph.h"

namespace tpack::cpu {

/// Chooses layout and algorithm of every node of four-axis tensors that the section says nothing about,
/// together and for each direction of a convolution apart: the sum of kernel times and reorders is made small
/// by local search. `algorithm` kAuto measures convolutions, kHeuristic estimates them, kDirect allows direct
/// ones only.
void choose_layouts(const Graph& graph, DeviceOptions::Algorithm algorithm, Tuner& tuner,
                    PlanSection& section);

}  // namespace tpack::cpu
