#pragma once

#include <string>

namespace tpack {

/// Holds a folder for one process, so that two cannot write the same files. Lives as long as it is held.
class FolderLock {
 public:
  /// The name of the file in the folder that is locked.
  static constexpr const char* kFile = ".lock";

  /// `user`: what else may hold it, for messages ("another process trains"). Errors: ResourceError if it is
  /// held, or the folder cannot be written. A file system without locks gives a warning.
  FolderLock(const std::string& folder, const std::string& user);
  ~FolderLock();
  /// Whether another one holds it. Errors: none; what cannot be opened is not held.
  static bool is_held(const std::string& folder);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int file_ = -1;
};

}  // namespace tpack
