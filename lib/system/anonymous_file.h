#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace tpack {

/// A file in memory alone, which lasts as long as this object, for what reads files by path.
class AnonymousFile {
 public:
  /// With the contents one after the other. Errors: ResourceError.
  AnonymousFile(std::initializer_list<std::string_view> contents);
  explicit AnonymousFile(std::string_view content) : AnonymousFile({content}) {}
  ~AnonymousFile();
  AnonymousFile(const AnonymousFile&) = delete;
  AnonymousFile& operator=(const AnonymousFile&) = delete;

  /// Replaces the content, in the memory of the one before. Errors: ResourceError.
  void assign(std::initializer_list<std::string_view> contents);
  /// In this process.
  const std::string& path() const { return path_; }

 private:
  int file_;
  std::string path_;
};

}  // namespace tpack
