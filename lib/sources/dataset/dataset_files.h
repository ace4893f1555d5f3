#pragma once

#include <optional>
#include <string>
#include <string_view>
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
  /// Those of known_dataset(source).
  DatasetFiles(std::string_view source, const Ref<Path>& dir);

  /// Paths of all `files`, which must be in one folder. Errors: ConfigError if `dir` was given and is not a
  /// folder; DataError with what is missing, the folders searched and the origin.
  std::vector<std::string> find(const std::vector<std::string>& files) const;
  /// The path of the first of these files and folders (whose names end in "/") that exists. `shown`:
  /// their names in errors; empty: all candidates. Errors: as for `find`.
  std::string find_first(const std::vector<std::string>& candidates, const std::string& shown = {}) const;
  /// The same; nothing if none exists.
  std::optional<std::string> look_for(const std::vector<std::string>& candidates) const;

 private:
  std::vector<std::string> folders() const;
  [[noreturn]] void reject(const std::string& missing) const;

  std::string name_;
  Ref<Path> dir_;
  std::string origin_;
  std::string fetch_;  // the command that downloads it; empty: there is none
};

}  // namespace tpack
