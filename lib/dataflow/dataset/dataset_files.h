#pragma once

#include <string>
#include <vector>

#include "core/field.h"

namespace tpack {

/// Finds the files of a known dataset. Nothing is ever downloaded.
///
/// Searched are: `dir` itself and its folder `name`, or, where no `dir` was given, the same below the folder
/// that the environment variable TPACK_DATASET names. Each file is taken as NAME.gz or NAME.
class DatasetFiles {
 public:
  /// `origin`: where the files come from, for the message.
  DatasetFiles(std::string name, const Ref<Path>& dir, std::string origin);

  /// Paths of all of `files`, which must lie in one folder.
  /// Errors: ConfigError if `dir` was written and is not a folder; DataError naming what is missing, the
  /// folders searched and the origin.
  std::vector<std::string> find(const std::vector<std::string>& files) const;

 private:
  std::vector<std::string> folders() const;

  std::string name_;
  Ref<Path> dir_;
  std::string origin_;
};

}  // namespace tpack
