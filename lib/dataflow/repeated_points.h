#pragma once

#include <cstdint>

#include "dataflow/flow.h"
#include "dataflow/source.h"

namespace tpack {

/// Each item of a flow `num` times in a row. The copies differ in the `repeat` of their ids, so maps after it
/// draw other random numbers for each of them; maps before it do not. By place, each copy is made anew.
/// `context`: of the stage that repeats.
FlowPtr repeated_points(FlowPtr up, int64_t num, const StageContext& context);

/// Copies a datapoint; its images become pixels.
void copy_datapoint(Datapoint& from, Datapoint& to);

}  // namespace tpack
