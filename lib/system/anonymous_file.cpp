#include "system/anonymous_file.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

#include "core/error.h"

namespace tpack {

namespace {

[[noreturn]] void reject() { throw ResourceError(std::string("a file in memory: ") + std::strerror(errno)); }

}  // namespace

AnonymousFile::AnonymousFile(std::initializer_list<std::string_view> contents)
    : file_(::memfd_create("tpack", MFD_CLOEXEC)) {
  if (file_ < 0) reject();
  path_ = "/proc/self/fd/" + std::to_string(file_);
  try {
    assign(contents);
  } catch (...) {
    ::close(file_);
    throw;
  }
}

void AnonymousFile::assign(std::initializer_list<std::string_view> contents) {
  off_t end = 0;
  for (std::string_view content : contents) {
    while (!content.empty()) {
      const ssize_t more = ::pwrite(file_, content.data(), content.size(), end);
      if (more < 0 && errno == EINTR) continue;
      if (more <= 0) reject();
      content.remove_prefix(static_cast<size_t>(more));
      end += more;
    }
  }
  if (::ftruncate(file_, end) != 0) reject();
}

AnonymousFile::~AnonymousFile() { ::close(file_); }

}  // namespace tpack
