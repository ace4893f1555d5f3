#pragma once

#include <string>
#include <vector>

#include "dataflow/flow.h"

namespace tpack {

struct StageContext;

enum class Lengths : uint8_t { kEqual, kMinLength };

/// Sample k has the components of sample k of each flow, one after the other. A component whose name an
/// earlier flow already has gets the number of its flow, from 1: image, image_2. The flows keep the order of
/// their sources; if these shuffle, one permutation of the joined samples replaces theirs. `owner`:
/// "JoinData", for messages. Errors: ConfigError for flows that cannot be joined.
FlowPtr joined_flow(std::vector<FlowPtr> flows, Lengths lengths, const StageContext& context,
                    const std::string& owner);

}  // namespace tpack
