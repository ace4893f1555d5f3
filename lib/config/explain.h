#pragma once

#include <string>
#include <vector>

#include "core/config_node.h"
#include "core/position.h"

namespace tpack {

/// One place that says something about a key.
struct Origin {
  Position where;
  std::string value;  // as JSON on one line, before expressions are resolved; "deleted"
  bool used =
      false;  // the value of the config comes from here (of a map or list: the last place that changed it)

  /// "train.yaml:5:3: 64" and, for the used one, " (used)".
  std::string str() const;
  /// {"where": "train.yaml:5:3", "value": 64, "used": true}; a deletion has "deleted": true and no value.
  std::string json() const;
};

/// The places that set `key`, in the order in which they were applied. `sources` are the trees of the files
/// and options in that order, `merged` is what came out. Empty if nothing sets the key.
std::vector<Origin> explain(const std::vector<ConfigNode>& sources, const ConfigNode& merged,
                            const std::string& key);

/// Throws the ConfigError for a key that leads nowhere in `config`, which is whole, defaults included.
[[noreturn]] void throw_unknown_key(const ConfigNode& config, const std::string& key);

}  // namespace tpack
