#include "sources/dataset/dataset_files.h"

#include <cstdlib>
#include <filesystem>

#include "core/error.h"
#include "core/text.h"
#include "dataflow/source.h"
#include "sources/dataset/known_datasets.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

/// "train-images.idx3-ubyte": some programs rename "train-images-idx3-ubyte" to this when they unpack it.
std::string dotted(std::string name) {
  const size_t at = name.rfind("-idx");
  if (at != std::string::npos) name[at] = '.';
  return name;
}

/// Path of NAME.gz or NAME in the folder, or of the file in a folder of its name; empty if there is none.
std::string find_file(const std::string& folder, const std::string& name) {
  for (const std::string& one : {name, dotted(name)}) {
    for (const std::string& candidate : {one + ".gz", one, name + "/" + one, one + "/" + one}) {
      const fs::path path = fs::path(folder) / candidate;
      std::error_code ignored;
      if (fs::is_regular_file(path, ignored)) return path.string();
    }
  }
  return {};
}

}  // namespace

DatasetFiles::DatasetFiles(std::string name, const Ref<Path>& dir, std::string origin)
    : name_(std::move(name)), dir_(dir), origin_(std::move(origin)) {}

DatasetFiles::DatasetFiles(std::string_view source, const Ref<Path>& dir)
    : DatasetFiles(std::string(known_dataset(source).folder), dir,
                   std::string(known_dataset(source).origin)) {
  if (!known_dataset(source).downloads.empty()) fetch_ = "tpack data fetch " + std::string(source);
}

std::vector<std::string> DatasetFiles::folders() const {
  std::string base;
  if (!dir_.empty()) {
    base = resolved_path(dir_);
    require_folder("dataset " + name_, dir_);
  } else if (const char* set = std::getenv("TPACK_DATASET"); set != nullptr && *set != '\0') {
    base = set;
  }
  if (base.empty()) return {};
  return {(fs::path(base) / name_).string(), base};
}

std::vector<std::string> DatasetFiles::find(const std::vector<std::string>& files) const {
  const std::vector<std::string> searched = folders();
  std::vector<std::string> missing = files;
  for (const std::string& folder : searched) {
    std::vector<std::string> found;
    std::vector<std::string> absent;
    for (const std::string& file : files) {
      found.push_back(find_file(folder, file));
      if (found.back().empty()) absent.push_back(file + "[.gz]");
    }
    if (absent.empty()) return found;
    if (absent.size() < missing.size() || folder == searched.front()) missing = absent;
  }
  reject(join(missing, ", "));
}

std::optional<std::string> DatasetFiles::look_for(const std::vector<std::string>& candidates) const {
  for (const std::string& folder : folders()) {
    for (const std::string& candidate : candidates) {
      const fs::path path = fs::path(folder) / candidate;
      std::error_code ignored;
      const bool is_there =
          candidate.ends_with('/') ? fs::is_directory(path, ignored) : fs::is_regular_file(path, ignored);
      if (is_there) return path.string();
    }
  }
  return std::nullopt;
}

std::string DatasetFiles::find_first(const std::vector<std::string>& candidates,
                                     const std::string& shown) const {
  if (const auto found = look_for(candidates)) return *found;
  reject(shown.empty() ? join(candidates, " or ") : shown);
}

void DatasetFiles::reject(const std::string& missing) const {
  const std::vector<std::string> searched = folders();
  std::string text = "dataset " + name_ + ": " + missing + " not found";
  text +=
      searched.empty()
          ? "; no folder to search: set 'dir', or set TPACK_DATASET to the folder that holds " + name_ + "/"
          : "; searched in " + join(searched, ", ");
  text += "; the files come from " + origin_;
  if (!fetch_.empty()) {
    const std::string to = searched.empty() ? "DIR" : searched.back();
    text += "; to download them, type: " + fetch_ + " --dir " + to;
  }
  throw DataError(text);
}

}  // namespace tpack
