#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "system/file_io.h"

namespace tpack {

/// Writes a ZIP archive of stored files, as numpy.savez does. Errors: ResourceError.
class ZipWriter {
 public:
  explicit ZipWriter(const std::string& path) : file_(path) {}

  /// A file whose content is these parts, one after the other.
  void add(const std::string& name, const std::vector<std::string_view>& parts);
  /// Writes the directory with a comment of the archive, and waits until all is on the disk.
  void finish(const std::string& comment = "");

 private:
  struct Entry {
    std::string name;
    uint64_t at = 0;
    uint64_t size = 0;
    uint32_t crc = 0;
  };
  static std::string local_header(const Entry& entry);
  static std::string directory_entry(const Entry& entry);

  AppendFile file_;
  std::vector<Entry> entries_;
  uint64_t at_ = 0;
};

}  // namespace tpack
