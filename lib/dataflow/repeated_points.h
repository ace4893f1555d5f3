#pragma once

#include <cstdint>

#include "dataflow/flow.h"

namespace tpack {

/// Each item of a flow `num` times in a row. The copies differ in the `repeat` of their ids, so maps after it
/// draw other random numbers for each of them; maps before it do not. By place, each copy is made anew.
FlowPtr repeated_points(FlowPtr up, int64_t num);

/// Copies a datapoint; its images become pixels.
void copy_datapoint(Datapoint& from, Datapoint& to);

}  // namespace tpack
