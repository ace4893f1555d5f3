#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace tpack {

/// The bytes of a file, mapped into memory: the kernel reads them on demand, and may drop them again.
/// Threads: any number at once.
class MappedFile {
 public:
  /// Errors: DataError with path and cause; for folders too.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const uint8_t> bytes() const { return bytes_; }

 private:
  std::span<const uint8_t> bytes_;
};

}  // namespace tpack
