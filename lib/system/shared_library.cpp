#include "system/shared_library.h"

#include <dlfcn.h>

#include "core/error.h"

namespace tpack {

SharedLibrary::SharedLibrary(std::string file, const std::string& package)
    : file_(std::move(file)), handle_(dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ != nullptr) return;
  throw ResourceError("the library " + file_ + " cannot be opened: " + dlerror() +
                      "; install Debian's package " + package);
}

void* SharedLibrary::address_of(const char* name) const {
  void* const address = dlsym(handle_, name);
  if (address == nullptr) throw ResourceError("the library " + file_ + " has no function " + name);
  return address;
}

}  // namespace tpack
