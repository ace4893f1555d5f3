#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace tpack {

/// The system calls that write files. All important files are written through these, so that a test can make
/// the n-th call fail. Each behaves like its namesake: -1 and errno on failure.
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

/// A new file (an old one is truncated) that only grows. Errors (all methods except the destructor):
/// ResourceError with path and cause; a failed write may have written a part. The destructor closes.
class AppendFile {
 public:
  explicit AppendFile(const std::string& path, FileIo& io = FileIo::system());
  /// Goes on after the first `keep` bytes of an existing file, which has as many.
  AppendFile(const std::string& path, uint64_t keep, FileIo& io = FileIo::system());
  /// A file that will be renamed: errors show `shown`, which the user knows, instead of the temporary name.
  AppendFile(const std::string& path, std::string shown, FileIo& io);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  void write(std::string_view bytes);
  /// Waits until all written data is on the disk.
  void sync();
  void close();
  const std::string& path() const { return path_; }

 private:
  std::string path_;  // path in errors
  FileIo& io_;
  int file_ = -1;
};

/// Writes the parts, one after the other, as the whole content of `path`, so that even after a power cut,
/// `path` is the old file or the new one: temporary name next to it, fsync, rename, fsync of the folder. A
/// link stays, and its target is written; anything that is not a plain file (a device, a pipe) is written
/// directly. Errors: ResourceError with path and cause; the temporary file is removed.
void write_whole_file(const std::string& path, std::span<const std::string_view> parts,
                      FileIo& io = FileIo::system());
void write_whole_file(const std::string& path, std::string_view content, FileIo& io = FileIo::system());

/// The file that writes to `path` reach: the end of a chain of links, which need not exist.
std::string link_target(const std::string& path);
/// True if `path` is a plain file or does not exist: only such a name may be the target of a rename.
bool is_replaceable(const std::string& path);

/// True for a link to nothing, or to itself.
bool is_dangling_link(const std::string& path);

/// Errors: ConfigError if `output` is one of the files that a command reads, by any path: "--output: m.h5 is
/// read by this command; ...". An empty path and "-" name no file.
void reject_overwriting(const std::string& option, const std::string& output,
                        std::span<const std::string> inputs);

enum class Reads : uint8_t {
  kFiles,   // anything else is as absent
  kStreams  // pipes and devices, too, which may have no end: for paths that a user types
};
/// Errors: ConfigError if there is a file or folder of this name.
void require_absent(const std::string& path);

/// The content of a file; nothing, and errno, if it cannot be read.
std::optional<std::string> read_whole_file(const std::string& path, Reads reads = Reads::kFiles);

/// Temporary path for writing the content of `path`; unique to this process.
std::string temporary_name(const std::string& path);
/// True for the name of such a file; it remains if the process dies.
bool is_temporary_name(std::string_view file_name);

}  // namespace tpack
