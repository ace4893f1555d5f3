#pragma once

#include <cstdint>
#include <vector>

#include "dataflow/data_flow.h"
#include "dataflow/datapoint.h"

namespace tpack {

/// The samples of a flow after its maps, before batches.
struct AugmentedSamples {
  Spec spec;
  std::vector<Datapoint> draws;
};

/// Several draws of each of the first stored samples, grouped by sample: draw k has the random numbers of
/// training pass k with this seed. Unreadable samples are skipped with a warning, as are samples that a map
/// drops. Maps inside a JoinData draw once. Errors: those of DataFlow::prepare.
AugmentedSamples augmented_samples(const DataFlow& flow, int64_t samples, int64_t draws, uint64_t seed);

}  // namespace tpack
