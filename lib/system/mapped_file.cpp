#include "system/mapped_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"

namespace tpack {
namespace {

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (file_ >= 0) ::close(file_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return file_; }

 private:
  int file_;
};

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const auto reject = [&path](int cause) {
    throw DataError(path, std::string("cannot be read: ") + std::strerror(cause));
  };
  const Descriptor file(path);
  struct stat known {};
  if (file.number() < 0 || ::fstat(file.number(), &known) != 0) reject(errno);
  if (!S_ISREG(known.st_mode)) reject(S_ISDIR(known.st_mode) ? EISDIR : EINVAL);
  if (known.st_size == 0) return;  // cannot be mapped
  const auto size = static_cast<size_t>(known.st_size);
  void* const data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (data == MAP_FAILED && errno == ENOMEM) throw ResourceError(path + ": does not fit into memory");
  if (data == MAP_FAILED) reject(errno);
  bytes_ = {static_cast<const uint8_t*>(data), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<uint8_t*>(bytes_.data()), bytes_.size());
}

}  // namespace tpack
