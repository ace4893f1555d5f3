#include "system/anonymous_file.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

#include "core/error.h"

namespace tpack {

AnonymousFile::AnonymousFile(std::initializer_list<std::string_view> contents)
    : file_(::memfd_create("tpack", MFD_CLOEXEC)) {
  const auto reject = [] { throw ResourceError(std::string("a file in memory: ") + std::strerror(errno)); };
  if (file_ < 0) reject();
  for (std::string_view content : contents) {
    while (!content.empty()) {
      const ssize_t more = ::write(file_, content.data(), content.size());
      if (more < 0 && errno == EINTR) continue;
      if (more <= 0) {
        ::close(file_);
        reject();
      }
      content.remove_prefix(static_cast<size_t>(more));
    }
  }
  path_ = "/proc/self/fd/" + std::to_string(file_);
}

AnonymousFile::~AnonymousFile() { ::close(file_); }

}  // namespace tpack
