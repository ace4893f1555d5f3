#pragma once

#include <cerrno>
#include <cstring>
#include <string>
#include <sys/mount.h>

namespace tpack {

/// A small disk, mounted over an empty folder if the test has permission to mount one.
class SmallDisk {
 public:
  explicit SmallDisk(std::string folder, const std::string& size = "64k") : path_(std::move(folder)) {
    if (!mount(0, "size=" + size)) rejected_ = std::strerror(errno);
  }
  ~SmallDisk() {
    if (rejected_.empty()) ::umount(path_.c_str());
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  /// Why there is no disk; empty if there is one.
  const std::string& rejected() const { return rejected_; }
  bool make_read_only() const { return mount(MS_REMOUNT | MS_RDONLY, ""); }
  bool resize(const std::string& size) const { return mount(MS_REMOUNT, "size=" + size); }

 private:
  bool mount(unsigned long flags, const std::string& options) const {
    return ::mount("tmpfs", path_.c_str(), "tmpfs", flags, options.c_str()) == 0;
  }

  std::string path_;
  std::string rejected_;
};

}  // namespace tpack
