#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/statistic.h"

namespace tpack {

/// A stage of successive halving: the number of runs, and the epochs that each has at its end.
struct Rung {
  int64_t epochs = 0;
  size_t runs = 0;

  bool operator==(const Rung&) const = default;
};

/// The first rung trains all runs for `least_epochs`; each following one has eta times the epochs and the
/// best 1/eta of the runs (rounded down). The last one has `most_epochs`, and is the first with one run.
/// Source: Jamieson, Talwalkar 2016, "Non-stochastic Best Arm Identification and Hyperparameter
/// Optimization".
std::vector<Rung> halving_rungs(size_t runs, int64_t least_epochs, int64_t most_epochs, int64_t eta);

/// The indices of the `keep` best scores, the best first; among equal ones, the first. NaN scores are never
/// kept.
std::vector<size_t> best_of(std::span<const std::optional<double>> scores, size_t keep, Goal goal);

}  // namespace tpack
