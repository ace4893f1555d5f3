#pragma once

#include <cstdint>
#include <string_view>

#include "core/rng.h"

namespace tpack {

/// What the random draws of a step depend on, in addition to the path of the node.
struct RunInfo {
  uint64_t seed = 0;
  int64_t step = 0;
  int64_t replica = 0;  // tower k and rank k are the same replica
};

/// Key of a random node's draws in one step.
inline uint64_t random_key(const RunInfo& info, std::string_view node_path) {
  return mix(mix(info.seed, stable_hash(node_path)),
             mix(static_cast<uint64_t>(info.step), static_cast<uint64_t>(info.replica)));
}

}  // namespace tpack
