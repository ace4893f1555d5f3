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

/// Every entry that is not bit-equal, without statistics that depend on the clock. The paths name the files
/// of the contents. Errors: CheckpointError for a history of statistics that cannot be read.
std::vector<CheckpointDifference> compare_checkpoints(CheckpointContent a, const std::string& path_a,
                                                      CheckpointContent b, const std::string& path_b);

}  // namespace tpack
