#pragma once

#include <cerrno>
#include <string>

#include "system/file_io.h"

namespace tpack {

/// Lets the n-th call fail (from 1; 0: none) with `error`; a failing write has written half of its bytes.
class FailingFileIo final : public FileIo {
 public:
  explicit FailingFileIo(int failing, int error = EIO) : failing_(failing), error_(error) {}
  int calls() const { return calls_; }

  int open(const char* path, int flags, mode_t mode) override {
    return fails() ? -1 : FileIo::open(path, flags, mode);
  }
  ssize_t write(int file, const void* data, size_t bytes) override {
    if (!fails()) return FileIo::write(file, data, bytes);
    const ssize_t ignored = FileIo::write(file, data, bytes / 2);
    static_cast<void>(ignored);
    errno = error_;
    return -1;
  }
  int fsync(int file) override { return fails() ? -1 : FileIo::fsync(file); }
  int close(int file) override {
    const bool failed = fails();
    const int result = FileIo::close(file);
    if (failed) errno = error_;
    return failed ? -1 : result;
  }
  int rename(const char* from, const char* to) override { return fails() ? -1 : FileIo::rename(from, to); }

 private:
  bool fails() {
    if (++calls_ != failing_) return false;
    errno = error_;
    return true;
  }

  int failing_;
  int error_;
  int calls_ = 0;
};

}  // namespace tpack
