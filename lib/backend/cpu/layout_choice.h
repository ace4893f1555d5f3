#pragma once

#include "backend/cpu/team.h"
#include "backend/cpu/tuner.h"
#include "backend/device.h"
#include "backend/plan.h"
#include "graph/graph.h"

namespace tpack::cpu {

/// Chooses the layout and algorithm of every node of four-axis tensors, together, and for each direction of a
/// convolution separately: local search minimizes the sum of kernel times and reorders. kHeuristic estimates
/// the times of convolutions. kAuto measures them and compares them with what kHeuristic would choose for the
/// graph. kDirect allows only direct convolutions. Kernels are cut into `pieces`; those that are measured run
/// on `team`.
PlanSection choose_layouts(const Graph& graph, DeviceOptions::Algorithm algorithm, Tuner& tuner, int pieces,
                           Team& team);

/// Checks that a section has choices for exactly the nodes that choose_layouts chooses for. Errors:
/// ConfigError with the first node that is missing or not in the graph.
void require_section_of(const Graph& graph, const PlanSection& section);

/// The times with which the measured ways to run a node enter a comparison. `preferred` is the heuristic's
/// choice: another one must be 10 % better, because less than that is noise, and may not need more scratch
/// memory (otherwise its time is infinite), so that the memory predicted without measuring holds. If a
/// measurement was disturbed, the heuristic's choice wins. If `preferred` is not available itself, there is
/// no such limit.
std::vector<double> comparable_seconds(const std::vector<Tuner::Measurement>& measured, size_t preferred);

}  // namespace tpack::cpu
