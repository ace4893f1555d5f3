#include "run/folder_lock.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/error.h"
#include "system/log.h"

namespace tpack {

FolderLock::FolderLock(const std::string& folder, const std::string& user) {
  const std::string name = folder + "/" + kFile;
  file_ = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file_ < 0) throw ResourceError(name + ": cannot be written: " + std::strerror(errno));
  if (flock(file_, LOCK_EX | LOCK_NB) == 0) return;
  const int failure = errno;
  close(file_);
  file_ = -1;
  if (failure == EWOULDBLOCK)
    throw ResourceError(folder + ": " + user + " in this folder; use another --log-dir");
  // Some network file systems have no locks, but runs should still be possible there.
  log::warning(name + ": cannot be locked (" + std::strerror(failure) +
               "); make sure that no other run writes here");
}

bool FolderLock::is_held(const std::string& folder) {
  const int file = open((folder + "/" + kFile).c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return false;
  const bool held = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(file);
  return held;
}

FolderLock::~FolderLock() {
  if (file_ >= 0) close(file_);
}

}  // namespace tpack
