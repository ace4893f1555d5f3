#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tpack {

/// A file model-STEP.h5.
struct CheckpointFile {
  std::string path;
  int64_t step = 0;
};

/// The form of names of checkpoints to resume from.
inline constexpr const char* kCheckpointNames = "model-*.h5";
/// "model-STEP.h5".
std::string checkpoint_name(int64_t step);
/// The checkpoints of a folder by step, newest first; empty if there is no folder. Nothing is opened.
/// Errors: ResourceError if the folder cannot be listed.
std::vector<CheckpointFile> list_checkpoints(const std::string& folder);
/// Other checkpoints of a folder, such as those of the best epochs; sorted. Nothing is opened.
std::vector<std::string> list_other_checkpoints(const std::string& folder);
/// The newest one with a matching digest; damaged ones are logged. Empty if the folder has none. Errors:
/// CheckpointError with their names if all are damaged.
std::optional<CheckpointFile> newest_valid_checkpoint(const std::string& folder);
/// Removes all except the `keep` newest ones up to `newest_step`, the last complete one. Later ones are kept:
/// they were damaged or not used when the run began, and must not replace good ones. Checkpoints of the steps
/// `spared` stay, and do not count. Errors: ResourceError.
void remove_old_checkpoints(const std::string& folder, size_t keep, int64_t newest_step,
                            const std::set<int64_t>& spared = {});
/// Removes the files of saves that were interrupted. Errors: ResourceError.
void remove_unfinished_files(const std::string& folder);

}  // namespace tpack
