#pragma once

#include <cstdint>
#include <vector>

#include "dataflow/data_flow.h"
#include "dataflow/datapoint.h"

namespace tpack {

/// What the maps of a flow make of its samples, before batches.
struct AugmentedSamples {
  Spec spec;
  std::vector<Datapoint> draws;
};

/// Several draws of each of the first stored samples, all draws of a sample one after the other: draw k has
/// the random numbers that pass k of training with this seed has. Samples that cannot be read are left out,
/// with a warning, and so are those that a map drops. Maps inside a JoinData draw once. Errors: those of
/// DataFlow::prepare.
AugmentedSamples augmented_samples(const DataFlow& flow, int64_t samples, int64_t draws, uint64_t seed);

}  // namespace tpack
