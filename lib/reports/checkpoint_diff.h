#pragma once

#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "weights/weight_file.h"

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

/// The tensors of two files by name, as FileWeight reads them. One tensor of each is in
/// memory at a time. Errors: ConfigError if no name is in both; those of reading.
std::vector<CheckpointDifference> compare_weights(const WeightFile& a, const WeightFile& b);

}  // namespace tpack
