#include "system/input_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"

namespace tpack {

int open_regular_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat known {};
  if (file < 0) return file;
  if (::fstat(file, &known) == 0 && S_ISREG(known.st_mode)) return file;
  ::close(file);
  errno = S_ISDIR(known.st_mode) ? EISDIR : EINVAL;
  return -1;
}

InputFile::InputFile(const std::string& path) : file_(open_regular_file(path)) {
  if (file_ < 0)
    throw FileError(path, errno == EINVAL ? "is a pipe or a device, not a file"
                                          : std::string("cannot be read: ") + std::strerror(errno));
  size_ = size_now();
}

size_t InputFile::size_now() const {
  struct stat known {};
  return ::fstat(file_, &known) == 0 ? static_cast<size_t>(known.st_size) : 0;
}

std::string InputFile::stamp_of(int file) {
  struct stat known {};
  if (::fstat(file, &known) != 0) return "";
  return std::to_string(known.st_size) + " " + std::to_string(known.st_mtim.tv_sec) + " " +
         std::to_string(known.st_mtim.tv_nsec);
}

InputFile::~InputFile() { ::close(file_); }

size_t read_at(const InputFile& file, const std::string& path, uint64_t offset, void* to, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t got =
        ::pread(file.number(), static_cast<char*>(to) + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw FileError(path, std::string("cannot be read: ") + std::strerror(errno));
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

std::string first_bytes(const std::string& path, size_t count) {
  const int file = open_regular_file(path);
  if (file < 0) return "";
  std::string bytes(count, '\0');
  const ssize_t got = ::read(file, bytes.data(), count);
  ::close(file);
  bytes.resize(got < 0 ? 0 : static_cast<size_t>(got));
  return bytes;
}

void require_regular_file(const std::string& path) { const InputFile file(path); }

}  // namespace tpack
