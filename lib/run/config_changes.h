#pragma once

#include <string>
#include <vector>

#include "core/config_node.h"

namespace tpack {

/// What a resumed run says differently from the config in its checkpoint: "optimizer.Adam.learning_rate was
/// 0.002, is 0.5". Not its name, nor that it is to be longer; `vars` only where they are used. Errors:
/// ConfigError at `optimizer` if the optimizer is another one, whose state the checkpoint does not have.
std::vector<std::string> config_changes(const ConfigNode& checkpoint, const ConfigNode& run,
                                        const Position& optimizer);

/// The same of what divides the sources of `data` into parts. Samples that were learned would be in other
/// parts.
std::vector<std::string> split_changes(const ConfigNode& checkpoint, const ConfigNode& run);

}  // namespace tpack
