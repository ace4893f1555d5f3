#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace tpack {

/// The system calls that write files. Everything that must not be lost is written through one of these, so
/// that a test can let the n-th call fail. Each behaves as its namesake: -1 and errno on failure.
class FileIo {
 public:
  virtual ~FileIo() = default;
  virtual int open(const char* path, int flags, mode_t mode);
  virtual ssize_t write(int file, const void* data, size_t bytes);
  virtual int fsync(int file);
  virtual int close(int file);
  virtual int rename(const char* from, const char* to);
  virtual int unlink(const char* path);

  /// The calls of the operating system. Threads: any.
  static FileIo& system();
};

/// A new file (an old one is emptied) that only grows. Errors (all methods but the destructor): ResourceError
/// with path and cause; the bytes of a failed write may be in the file in part. The destructor closes.
class AppendFile {
 public:
  explicit AppendFile(const std::string& path, FileIo& io = FileIo::system());
  /// A file that will be renamed: errors name `shown`, which the user knows, as does `path`.
  AppendFile(const std::string& path, std::string shown, FileIo& io);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  void write(std::string_view bytes);
  /// Waits until what was written is on the disk.
  void sync();
  void close();
  const std::string& path() const { return path_; }

 private:
  std::string path_;  // as errors name it
  FileIo& io_;
  int file_ = -1;
};

/// Writes the parts, one after the other, as the whole content of `path`, so that whatever happens, the
/// power cut included, `path` is the old file or the new one: temporary name next to it, fsync, rename, fsync
/// of the folder. A link stays, and the file that it leads to is written; what is not a plain file (a device,
/// a pipe) is written as it is. Errors: ResourceError with path and cause; the temporary file is removed.
void write_whole_file(const std::string& path, std::span<const std::string_view> parts,
                      FileIo& io = FileIo::system());
void write_whole_file(const std::string& path, std::string_view content, FileIo& io = FileIo::system());

/// Where what is written to `path` ends up: the end of a chain of links, which need not be there.
std::string link_target(const std::string& path);
/// True if `path` is a plain file, or nothing: only such a name may be taken by a rename.
bool is_replaceable(const std::string& path);

/// True for a link that leads to nothing, or to itself.
bool is_dangling_link(const std::string& path);

/// The content of a file; nothing, and errno, if it cannot be read.
std::optional<std::string> read_whole_file(const std::string& path);

/// Where the content of `path` is written until it is complete; of this process alone.
std::string temporary_name(const std::string& path);
/// True for the name of such a file, which remains if the process dies.
bool is_temporary_name(std::string_view file_name);

}  // namespace tpack
