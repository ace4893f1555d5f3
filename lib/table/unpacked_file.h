#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "system/mapped_file.h"

namespace tpack {

/// Unpacks bytes from the first to the last.
class Unpacker {
 public:
  Unpacker() = default;
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;
  virtual ~Unpacker() = default;

  /// Fills `out` as far as there is content, and returns the number of bytes. Errors: DataError if the file
  /// is damaged or ends early.
  virtual size_t fill(std::span<char> out) = 0;
};

/// The bytes of a file from the first to the last. A file compressed with gzip or Zstandard (detected by its
/// first bytes) is unpacked piece by piece. Threads: one at a time.
class UnpackedFile {
 public:
  /// Errors: DataError with path and cause.
  explicit UnpackedFile(const std::string& path);

  bool is_packed() const { return unpacker_ != nullptr; }
  /// The next bytes, at most `at_most`, valid until the next call; empty at the end. For a file that is not
  /// compressed, all available bytes up to `at_most`. Errors: DataError with path if the file is damaged or
  /// ends early.
  std::string_view next(size_t at_most);

 private:
  MappedFile file_;
  std::string_view rest_;  // for a file that is not compressed
  std::unique_ptr<Unpacker> unpacker_;
  std::string piece_;
};

}  // namespace tpack
