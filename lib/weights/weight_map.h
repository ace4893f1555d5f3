#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/config_node.h"

namespace tpack {

/// How the layers of a file of weights are called in a model.
struct WeightMap {
  std::string name;  // of a map that comes with tpack; its path if it is a file
  std::string part;  // of the file: "state_dict"; empty: the usual ones
  std::vector<std::pair<std::string, std::string>> layers;  // as LoadRules::rename, for names of layers
  std::string order;  // if the names of all layers match this pattern, they only tell the order

  /// The name of a layer of the file ("layer1.0.conv1", or with `/`) in the model.
  std::string path_here(std::string path) const;
};

/// Reads {part, layers, order}. `name`: of the map, for messages. Errors: ConfigError with all mistakes.
WeightMap parse_weight_map(const ConfigNode& node, const std::string& name);

/// The maps that come with tpack (models/weights), by name.
const std::vector<WeightMap>& known_weight_maps();

}  // namespace tpack
