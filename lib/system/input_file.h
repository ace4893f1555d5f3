#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tpack {

/// A regular file that is open to be read. Threads: any number at once.
class InputFile {
 public:
  /// Errors: FileError with path and cause; also for folders, and for pipes and devices, which may have no
  /// end, or make the program wait without end.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  int number() const { return file_; }
  /// In bytes, when it was opened.
  size_t size() const { return size_; }
  /// Now: other programs may change it.
  size_t size_now() const;
  /// Changes with its size and its time of modification; that of the open file, also after another one took
  /// its name.
  std::string stamp() const { return stamp_of(file_); }
  static std::string stamp_of(int file);

 private:
  int file_;
  size_t size_ = 0;
};

/// Reads up to `size` bytes at `offset` into `to`; returns their number, which is less only at the end of the
/// file. Errors: FileError with `path`.
size_t read_at(const InputFile& file, const std::string& path, uint64_t offset, void* to, size_t size);

/// Opens a regular file to be read. Returns its number; -1 and errno if there is none (EISDIR for a folder,
/// EINVAL for a pipe or a device). Does not wait for the other end of a pipe.
int open_regular_file(const std::string& path);

/// The first `count` bytes of a regular file; fewer if it is shorter, none if it cannot be read.
std::string first_bytes(const std::string& path, size_t count);

/// Errors: DataError as of InputFile, for files that a library opens by name.
void require_regular_file(const std::string& path);

}  // namespace tpack
