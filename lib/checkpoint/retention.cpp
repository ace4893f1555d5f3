#include "checkpoint/retention.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "checkpoint/checkpoint.h"
#include "core/error.h"
#include "system/file_io.h"
#include "system/log.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "model-";
constexpr std::string_view kSuffix = ".h5";

std::optional<int64_t> step_of(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  const std::string_view digits = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
  int64_t step = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  const bool whole = failure == std::errc{} && end == digits.data() + digits.size() && step >= 0;
  return whole ? std::optional(step) : std::nullopt;
}

void remove(const std::string& path) {
  std::error_code failure;
  fs::remove(path, failure);
  if (failure) throw ResourceError(path + ": cannot be removed: " + failure.message());
}

/// Empty if there is no folder.
std::vector<fs::path> entries_of(const std::string& folder) {
  std::vector<fs::path> entries;
  std::error_code failure;
  if (!fs::is_directory(folder, failure)) return entries;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure))
    entries.push_back(at->path());
  if (failure) throw ResourceError(folder + ": cannot be listed: " + failure.message());
  return entries;
}

}  // namespace

std::string checkpoint_name(int64_t step) {
  return std::string(kPrefix) + std::to_string(step) + std::string(kSuffix);
}

std::vector<CheckpointFile> list_checkpoints(const std::string& folder) {
  std::vector<CheckpointFile> files;
  for (const fs::path& path : entries_of(folder)) {
    if (const auto step = step_of(path.filename().string())) files.push_back({path.string(), *step});
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.step > b.step; });
  return files;
}

std::vector<std::string> list_other_checkpoints(const std::string& folder) {
  std::vector<std::string> files;
  for (const fs::path& path : entries_of(folder)) {
    const std::string name = path.filename().string();
    if (name.ends_with(kSuffix) && !step_of(name)) files.push_back(path.string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::optional<CheckpointFile> newest_valid_checkpoint(const std::string& folder) {
  std::vector<std::string> damaged;
  for (const CheckpointFile& file : list_checkpoints(folder)) {
    try {
      verify_checkpoint(file.path);
      for (const std::string& text : damaged) log::warning(text);
      return file;
    } catch (const CheckpointError& error) {
      damaged.emplace_back(error.what());
    }
  }
  if (damaged.empty()) return std::nullopt;
  std::string text = "none of the checkpoints can be read:";
  for (const std::string& one : damaged) text += "\n  " + one;
  throw CheckpointError(folder, text);
}

void remove_old_checkpoints(const std::string& folder, size_t keep, int64_t newest_step,
                            const std::set<int64_t>& spared) {
  std::vector<CheckpointFile> files = list_checkpoints(folder);
  std::erase_if(files, [&](const CheckpointFile& file) {
    return file.step > newest_step || spared.contains(file.step);
  });
  for (size_t i = keep; i < files.size(); ++i) remove(files[i].path);
}

void remove_unfinished_files(const std::string& folder) {
  std::vector<std::string> leftovers;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    if (is_temporary_name(entry.path().filename().string())) leftovers.push_back(entry.path().string());
  }
  for (const std::string& path : leftovers) remove(path);
}

}  // namespace tpack
