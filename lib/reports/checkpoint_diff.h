#pragma once

#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"

namespace tpack {

/// Where two checkpoints differ.
struct CheckpointDifference {
  std::string entry;
  std::string text;  // "largest difference 0.1", "only in the first"
};

/// Every entry that is not bit-equal; statistics that depend on the clock are left out. The paths are those
/// that the contents come from. Errors: CheckpointError for a history of statistics that cannot be read.
std::vector<CheckpointDifference> compare_checkpoints(CheckpointContent a, const std::string& path_a,
                                                      CheckpointContent b, const std::string& path_b);

}  // namespace tpack
