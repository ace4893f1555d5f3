#pragma once

#include <string>
#include <vector>

namespace tpack {

/// Writes the predictions of each fold's model for its validation part, which it was not trained on: CSV with
/// all columns of InferOptions::all_columns except the index, and a column "fold", in the order of the data.
/// `runs`: a folder for each fold; the newest checkpoint of each is used, or, without one, that of its best
/// epoch. If the config has no outputs to predict, or a run has no checkpoint, it writes nothing and logs the
/// reason. Errors: CheckpointError; those of the data; ResourceError.
void write_out_of_fold(const std::vector<std::string>& runs, const std::string& path);

inline constexpr const char* kOutOfFoldFile = "out_of_fold.csv";

}  // namespace tpack
