#pragma once

#include <string>
#include <vector>

namespace tpack {

/// Writes what the model of each fold predicts for its own validation part, which it was not trained on: CSV
/// with all columns that InferOptions::all_columns gives but the index, and a column "fold", in the order of
/// the data. `runs`: a folder for
/// each fold; of each the newest checkpoint counts, or without one, that of its best epoch. Nothing is
/// written if the config does not say what to predict, or if a run has no checkpoint: the log says so.
/// Errors: CheckpointError; those of the data; ResourceError.
void write_out_of_fold(const std::vector<std::string>& runs, const std::string& path);

inline constexpr const char* kOutOfFoldFile = "out_of_fold.csv";

}  // namespace tpack
