#pragma once

#include "backend/cpu/team.h"
#include "backend/cpu/tuner.h"
#include "backend/device.h"
#include "backend/plan.h"
#include "graph/graph.h"

namespace tpack::cpu {

/// Chooses layout and algorithm of every node of four-axis tensors, together and for each direction of a
/// convolution apart: the sum of kernel times and reorders is made small by local search. `algorithm` kAuto
/// measures convolutions and compares them with what kHeuristic, which estimates them, would choose for the
/// graph; kDirect allows direct ones only. Kernels are cut into `pieces`, and those measured run on `team`.
PlanSection choose_layouts(const Graph& graph, DeviceOptions::Algorithm algorithm, Tuner& tuner, int pieces,
                           Team& team);

/// Checks that a section holds the choices of exactly the nodes that choose_layouts chooses for. Errors:
/// ConfigError with the first node that is missing or not the graph's.
void require_section_of(const Graph& graph, const PlanSection& section);

/// What the measured ways to run a node count for in a comparison. `preferred` is the heuristic's: another
/// must be 10 % better, since less than that is noise, and may not need more scratch, so that the memory
/// predicted without measuring holds (infinite otherwise); where a measurement was disturbed, the heuristic's
/// wins. Where `preferred` cannot be had itself, there is no such limit.
std::vector<double> comparable_seconds(const std::vector<Tuner::Measurement>& measured, size_t preferred);

}  // namespace tpack::cpu
