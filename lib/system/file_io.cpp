#include "system/file_io.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "core/error.h"
#include "system/input_file.h"

namespace tpack {
namespace {

constexpr std::string_view kTemporary = ".tmp.";
constexpr mode_t kMode = 0644;

[[noreturn]] void fail(const std::string& path, const char* what) {
  throw ResourceError(path + ": cannot be written (" + what + "): " + std::strerror(errno));
}

void write_all(int file, std::string_view bytes, const std::string& path, FileIo& io) {
  while (!bytes.empty()) {
    const ssize_t written = io.write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(path, "write");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

/// Makes a rename in a folder durable. Some file systems cannot sync a folder and return EINVAL.
void sync_folder(const std::string& path, FileIo& io) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const int file = io.open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (file < 0) fail(path, "open its folder");
  const bool synced = io.fsync(file) == 0 || errno == EINVAL;
  const int cause = errno;
  const bool closed = io.close(file) == 0;
  if (synced && closed) return;
  if (!synced) errno = cause;
  fail(path, "sync its folder");
}

void write_and_rename(const std::string& path, const std::string& temporary,
                      std::span<const std::string_view> parts, FileIo& io) {
  {
    AppendFile file(temporary, path, io);
    for (const std::string_view part : parts) file.write(part);
    file.sync();
    file.close();
  }
  if (io.rename(temporary.c_str(), path.c_str()) != 0) fail(path, "rename");
}

}  // namespace

int FileIo::open(const char* path, int flags, mode_t mode) { return ::open(path, flags, mode); }
ssize_t FileIo::write(int file, const void* data, size_t bytes) { return ::write(file, data, bytes); }
int FileIo::fsync(int file) { return ::fsync(file); }
int FileIo::close(int file) { return ::close(file); }
int FileIo::rename(const char* from, const char* to) { return std::rename(from, to); }
int FileIo::unlink(const char* path) { return ::unlink(path); }

FileIo& FileIo::system() {
  static FileIo io;
  return io;
}

AppendFile::AppendFile(const std::string& path, FileIo& io) : AppendFile(path, path, io) {}

AppendFile::AppendFile(const std::string& path, std::string shown, FileIo& io)
    : path_(std::move(shown)), io_(io) {
  file_ = io_.open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
  if (file_ < 0) fail(path_, "open");
}

AppendFile::AppendFile(const std::string& path, uint64_t keep, FileIo& io) : path_(path), io_(io) {
  file_ = io_.open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kMode);
  if (file_ < 0) fail(path_, "open");
  const auto end = static_cast<off_t>(keep);
  if (::ftruncate(file_, end) != 0 || ::lseek(file_, end, SEEK_SET) != end) {
    io_.close(std::exchange(file_, -1));
    fail(path_, "truncate");
  }
}

AppendFile::~AppendFile() {
  if (file_ >= 0) io_.close(file_);
}

void AppendFile::write(std::string_view bytes) { write_all(file_, bytes, path_, io_); }

void AppendFile::sync() {
  if (io_.fsync(file_) != 0) fail(path_, "fsync");
}

void AppendFile::close() {
  if (io_.close(std::exchange(file_, -1)) != 0) fail(path_, "close");
}

std::string link_target(const std::string& path) {
  if (!is_replaceable(path)) return path;  // /dev/stdout leads to "pipe:[123]"
  constexpr int kMaxLinks = 40;            // the limit of Linux
  std::filesystem::path at = path;
  std::error_code failure;
  for (int i = 0; i < kMaxLinks && std::filesystem::is_symlink(at, failure); ++i) {
    const std::filesystem::path to = std::filesystem::read_symlink(at, failure);
    if (failure) break;
    at = at.parent_path() / to;  // `to` alone if it is absolute
  }
  return at.string();
}

bool is_replaceable(const std::string& path) {
  std::error_code failure;
  const auto there = std::filesystem::status(path, failure);
  return !std::filesystem::exists(there) || std::filesystem::is_regular_file(there);
}

void write_whole_file(const std::string& written, std::span<const std::string_view> parts, FileIo& io) {
  const std::string path = link_target(written);
  if (!is_replaceable(path) && !std::filesystem::is_directory(path)) {
    AppendFile file(path, io);
    for (const std::string_view part : parts) file.write(part);
    file.close();
    return;
  }
  const std::string temporary = temporary_name(path);
  try {
    write_and_rename(path, temporary, parts, io);
  } catch (const ResourceError&) {
    io.unlink(temporary.c_str());
    throw;
  }
  sync_folder(path, io);
}

void write_whole_file(const std::string& path, std::string_view content, FileIo& io) {
  write_whole_file(path, std::span(&content, 1), io);
}

bool is_dangling_link(const std::string& path) {
  std::error_code failure;
  return std::filesystem::is_symlink(path, failure) && !std::filesystem::exists(path, failure);
}

void reject_overwriting(const std::string& option, const std::string& output,
                        std::span<const std::string> inputs) {
  std::error_code absent;  // then they are not the same
  for (const std::string& input : inputs) {
    if (!output.empty() && std::filesystem::is_regular_file(input, absent) &&
        std::filesystem::equivalent(output, input, absent))
      throw ConfigError(option + ": " + output + " is read by this command" +
                        (input == output ? "" : " (as " + input + ")") + "; choose another file");
  }
}

void require_absent(const std::string& path) {
  if (std::filesystem::exists(path)) throw ConfigError("'" + path + "' exists; name a new file");
}

std::optional<std::string> read_whole_file(const std::string& path, Reads reads) {
  const int file =
      reads == Reads::kFiles ? open_regular_file(path) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat known {};
  const bool has_size = ::fstat(file, &known) == 0 && known.st_size > 0;
  // One byte more than the size: the read that finds the end also needs room.
  std::string content(has_size ? static_cast<size_t>(known.st_size) + 1 : 4096, '\0');
  size_t length = 0;
  ssize_t got = 0;
  do {
    got = ::read(file, content.data() + length, content.size() - length);
    length += static_cast<size_t>(std::max<ssize_t>(got, 0));
    if (length == content.size()) content.resize(2 * length);  // it grows while being read, or has no size
  } while (got > 0 || (got < 0 && errno == EINTR));
  content.resize(length);
  const int cause = errno;
  ::close(file);
  if (got == 0) return content;
  errno = cause;  // of a folder, or of the disk
  return std::nullopt;
}

std::string temporary_name(const std::string& path) {
  return path + std::string(kTemporary) + std::to_string(::getpid());
}

bool is_temporary_name(std::string_view file_name) {
  const size_t at = file_name.rfind(kTemporary);
  if (at == std::string_view::npos || at + kTemporary.size() == file_name.size()) return false;
  return file_name.find_first_not_of("0123456789", at + kTemporary.size()) == std::string_view::npos;
}

}  // namespace tpack
