#pragma once

#include <string>

namespace tpack {

/// The result of the run in a folder, as one JSON object for scripts: the folder, the content of exit.json,
/// the results of the gates, the statistics of the last epoch, and the checkpoints. Errors: DataError for
/// files that are not from a run.
std::string run_summary(const std::string& folder);

}  // namespace tpack
