#pragma once

#include <string>

namespace tpack {

/// Locks a folder for one process, so that two cannot write the same files. The destructor unlocks it.
class FolderLock {
 public:
  /// The name of the file in the folder that is locked.
  static constexpr const char* kFile = ".lock";

  /// `user`: who else may hold the lock, for messages ("another process trains"). Errors: ResourceError if it
  /// is locked, or the folder cannot be written. A file system without locks causes a warning.
  FolderLock(const std::string& folder, const std::string& user);
  ~FolderLock();
  /// Whether another process holds the lock. Errors: none; a file that cannot be opened is not locked.
  static bool is_held(const std::string& folder);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int file_ = -1;
};

}  // namespace tpack
