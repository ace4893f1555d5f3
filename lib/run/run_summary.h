#pragma once

#include <string>

namespace tpack {

/// What has become of the run in a folder, as one JSON object for scripts: the folder, what exit.json has,
/// the results of the gates, the statistics of the last epoch, and the checkpoints. Errors: DataError for
/// files that are not those of a run.
std::string run_summary(const std::string& folder);

}  // namespace tpack
