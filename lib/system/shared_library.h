#pragma once

#include <string>

namespace tpack {

/// A shared library that is opened on demand, because few runs need it; it stays open.
class SharedLibrary {
 public:
  /// `file` is the name for the dynamic linker, such as "libwebp.so.7"; `package` is its Debian package.
  /// Errors: ResourceError with the package to install.
  SharedLibrary(std::string file, const std::string& package);

  /// Finds a function; its type is that of the variable: `decltype(&WebPGetInfo) get_info`. Errors:
  /// ResourceError.
  template <class Function>
  void find(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(address_of(name));
  }

 private:
  void* address_of(const char* name) const;

  std::string file_;
  void* handle_;
};

}  // namespace tpack
