#include "sources/mask_paths.h"

namespace tpack {

FieldType Codec<MaskPaths>::type() {
  const FieldType path = Codec<Ref<Path>>::type();
  FieldType type =
      FieldType::either({path, FieldType::map_of(path, "paths by class")}, "a path, or {class: path}");
  type.nullable = true;
  return type;
}

std::optional<MaskPaths> Codec<MaskPaths>::parse(const ConfigNode& node, Reader& reader) {
  MaskPaths paths;
  if (node.is_null()) return paths;
  if (node.is_map() && node.size() == 0) {
    reader.wrong_type(node, "a path, or {class: path}");
    return std::nullopt;
  }
  if (!node.is_map()) {
    auto path = Codec<Ref<Path>>::parse(node, reader);
    if (!path) return std::nullopt;
    if (!path->empty()) paths.parts.push_back({"", std::move(*path)});
    return paths;
  }
  for (const auto& [name, value, position] : node.entries()) {
    auto path = Codec<Ref<Path>>::parse(value, reader);
    if (!path) return std::nullopt;
    if (path->empty()) {
      reader.fail(value, "class '" + name + "' has no path");
      return std::nullopt;
    }
    paths.parts.push_back({name, std::move(*path)});
  }
  return paths;
}

ConfigNode Codec<MaskPaths>::dump(const MaskPaths& paths) {
  if (paths.empty()) return {};
  if (!paths.by_class()) return Codec<Ref<Path>>::dump(paths.parts[0].path);
  std::vector<ConfigNode::Entry> entries;
  for (const auto& [name, path] : paths.parts) entries.push_back({name, Codec<Ref<Path>>::dump(path)});
  return ConfigNode::map(std::move(entries));
}

}  // namespace tpack
