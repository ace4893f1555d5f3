#include "system/mapped_file.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

#include "core/error.h"
#include "system/input_file.h"

namespace tpack {

MappedFile::MappedFile(const std::string& path) {
  const InputFile file(path);
  if (file.size() == 0) return;  // cannot be mapped
  void* const data = ::mmap(nullptr, file.size(), PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (data == MAP_FAILED && errno == ENOMEM) throw ResourceError(path + ": does not fit into memory");
  if (data == MAP_FAILED) throw FileError(path, std::string("cannot be read: ") + std::strerror(errno));
  bytes_ = {static_cast<const uint8_t*>(data), file.size()};
  guard_.emplace(bytes_, path);
}

MappedFile::~MappedFile() {
  guard_.reset();
  if (!bytes_.empty()) ::munmap(const_cast<uint8_t*>(bytes_.data()), bytes_.size());
}

}  // namespace tpack
