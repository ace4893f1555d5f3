#pragma once

#include <map>
#include <string>

#include "core/field.h"

namespace tpack {

/// Chooses files by the names in a text file: one per line, with or without an extension. Further words of a
/// line do not count (lists of Pascal VOC have a number there).
class NameList {
 public:
  /// Chooses everything.
  NameList() = default;
  /// The same if `file` is empty. Errors: DataError for a name that is there twice, or if there is none.
  explicit NameList(const Ref<Path>& file);

  bool is_everything() const { return path_.empty(); }
  /// Whether a file is chosen.
  bool take(const std::string& file);
  /// Errors: DataError if names in the list were not taken; `place`: where their files should be.
  void check_taken(const std::string& place) const;

 private:
  std::string path_;
  std::map<std::string, bool> taken_;
};

}  // namespace tpack
