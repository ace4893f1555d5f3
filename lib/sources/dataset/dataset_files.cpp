#include "sources/dataset/dataset_files.h"

#include <cstdlib>
#include <filesystem>

#include "core/error.h"
#include "core/text.h"
#include "dataflow/source.h"

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
  std::string text = "dataset " + name_ + ": " + join(missing, ", ") + " not found";
  text +=
      searched.empty()
          ? "; no folder to search: set 'dir', or set TPACK_DATASET to the folder that holds " + name_ + "/"
          : "; searched in " + join(searched, ", ");
  throw DataError(text + "; the files come from " + origin_);
}

}  // namespace tpack
