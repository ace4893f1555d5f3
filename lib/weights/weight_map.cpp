#include "weights/weight_map.h"

#include <algorithm>
#include <filesystem>

#include "config/yaml_reader.h"
#include "core/pattern.h"
#include "core/schema.h"
#include "predict/load_weights.h"
#include "weights/weight_map_texts.h"  // made by CMake

namespace tpack {

namespace {

struct MapParams {
  std::string source;
  std::string part;
  ConfigNode layers = ConfigNode::map({});
  std::string order;
};

Schema<MapParams> map_schema() {
  return Schema<MapParams>("Names of layers in a file of weights.")
      .field("source", &MapParams::source, "who publishes such files, and where")
      .field("part", &MapParams::part, "key of the file under which the weights are; default: the usual ones")
      .field("layers", &MapParams::layers,
             "map from a pattern for names of layers in the file, with `/` between the parts of a name, to "
             "their name in the model, where $1 is the first group of the expression")
      .field("order", &MapParams::order,
             "pattern; if the names of all layers of the file match it, only their order and the shapes of "
             "their values are used");
}

}  // namespace

std::string WeightMap::path_here(std::string path) const {
  std::ranges::replace(path, '.', '/');
  return renamed_by(layers, path);
}

WeightMap parse_weight_map(const ConfigNode& node, const std::string& name) {
  Diagnostics errors;
  const MapParams p = map_schema().parse(node, "map '" + name + "'", errors);
  WeightMap map{.name = name, .part = p.part, .order = p.order};
  if (!p.order.empty() && !p.layers.entries().empty())
    errors.add(node.position(), "map '" + name + "' has `layers` and `order`; it needs one of them");
  try {
    full_match("", p.order);
  } catch (const ConfigError& error) {
    errors.add(error, node.position());
  }
  for (const ConfigNode::Entry& entry : p.layers.entries()) {
    try {
      full_match("", entry.key);
    } catch (const ConfigError& error) {
      errors.add(error, entry.key_position);
    }
    if (entry.value.is_string())
      map.layers.emplace_back(entry.key, entry.value.text());
    else
      errors.add(entry.value.position(),
                 "expected a name for '" + entry.key + "', found " + entry.value.describe());
  }
  errors.throw_if_any();
  return map;
}

const std::vector<WeightMap>& known_weight_maps() {
  static const std::vector<WeightMap> kAll = [] {
    std::vector<WeightMap> maps;
    for (const char* const* text = kWeightMapTexts; *text != nullptr; text += 2)
      maps.push_back(
          parse_weight_map(parse_yaml(text[1], text[0]), std::filesystem::path(text[0]).stem().string()));
    return maps;
  }();
  return kAll;
}

}  // namespace tpack
