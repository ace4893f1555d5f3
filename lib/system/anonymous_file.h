#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace tpack {

/// A file that exists only in memory, as long as this object, for code that reads files by path.
class AnonymousFile {
 public:
  /// Contains the contents one after the other. Errors: ResourceError.
  AnonymousFile(std::initializer_list<std::string_view> contents);
  explicit AnonymousFile(std::string_view content) : AnonymousFile({content}) {}
  ~AnonymousFile();
  AnonymousFile(const AnonymousFile&) = delete;
  AnonymousFile& operator=(const AnonymousFile&) = delete;

  /// Replaces the content, in the same memory. Errors: ResourceError.
  void assign(std::initializer_list<std::string_view> contents);
  /// In this process.
  const std::string& path() const { return path_; }

 private:
  int file_;
  std::string path_;
};

}  // namespace tpack
