#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "system/input_file.h"
#include "system/mapping_guard.h"

namespace tpack {

/// The bytes of a file, mapped into memory: the kernel reads them on demand, and may drop them again. After
/// reading them, call check_mapped_files (flows and Source::prepare_once do). Threads: any number at once.
class MappedFile {
 public:
  /// Errors: FileError with path and cause; for folders, pipes and devices too.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const uint8_t> bytes() const { return bytes_; }

  /// As InputFile::stamp.
  std::string stamp() const { return file_.stamp(); }

 private:
  InputFile file_;
  std::span<const uint8_t> bytes_;
  std::optional<MappingGuard> guard_;
};

}  // namespace tpack
