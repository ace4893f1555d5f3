#include "system/mapped_file.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

#include "core/error.h"

namespace tpack {

MappedFile::MappedFile(const std::string& path) : file_(path) {
  if (file_.size() == 0) return;  // cannot be mapped
  void* const data = ::mmap(nullptr, file_.size(), PROT_READ, MAP_PRIVATE, file_.number(), 0);
  if (data == MAP_FAILED && errno == ENOMEM) throw ResourceError(path + ": does not fit into memory");
  if (data == MAP_FAILED) throw FileError(path, std::string("cannot be read: ") + std::strerror(errno));
  bytes_ = {static_cast<const uint8_t*>(data), file_.size()};
  guard_.emplace(bytes_, path);
}

MappedFile::~MappedFile() {
  guard_.reset();
  if (!bytes_.empty()) ::munmap(const_cast<uint8_t*>(bytes_.data()), bytes_.size());
}

}  // namespace tpack
