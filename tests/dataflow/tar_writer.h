#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sources/format/tar.h"

namespace tpack {

/// A file in a tar archive.
inline std::string tar_file(const std::string& name, const std::string& content) {
  return tar_header(name, content.size()) + content + std::string(tar_padding(content.size()), '\0');
}

/// An archive of these files, with their contents.
inline std::string tar_archive(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string all;
  for (const auto& [name, content] : files) all += tar_file(name, content);
  return all + std::string(2 * kTarBlock, '\0');
}

}  // namespace tpack
