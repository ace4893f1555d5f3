#pragma once

#include <string>
#include <vector>

#include "core/field.h"

namespace tpack {

/// Finds the files of a known dataset. Nothing is ever downloaded.
///
/// It searches `dir` itself and its folder `name`. Without a `dir`, it searches the same places below the
/// folder in the environment variable TPACK_DATASET. Each file may be NAME.gz or NAME, and
/// train-images.idx3-ubyte also matches train-images-idx3-ubyte.
class DatasetFiles {
 public:
  /// `origin`: the download address, for the message.
  DatasetFiles(std::string name, const Ref<Path>& dir, std::string origin);

  /// Paths of all `files`, which must be in one folder. Errors: ConfigError if `dir` was given and is not a
  /// folder; DataError with what is missing, the folders searched and the origin.
  std::vector<std::string> find(const std::vector<std::string>& files) const;

 private:
  std::vector<std::string> folders() const;

  std::string name_;
  Ref<Path> dir_;
  std::string origin_;
};

}  // namespace tpack
