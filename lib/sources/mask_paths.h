#pragma once

#include <string>
#include <vector>

#include "core/schema.h"

namespace tpack {

/// Where masks are: one path for all classes, or for each class the path of its own masks.
struct MaskPaths {
  struct Part {
    std::string of_class;  // empty: of all
    Ref<Path> path;
  };
  std::vector<Part> parts;

  bool empty() const { return parts.empty(); }
  bool by_class() const { return !empty() && !parts[0].of_class.empty(); }
};

template <>
struct Codec<MaskPaths> {
  static FieldType type();
  static std::optional<MaskPaths> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const MaskPaths& paths);
};

}  // namespace tpack
