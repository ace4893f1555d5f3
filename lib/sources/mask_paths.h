#pragma once

#include <string>
#include <vector>

#include "core/schema.h"

namespace tpack {

/// Paths of masks: one for all classes, or one for each class.
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
