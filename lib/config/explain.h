#pragma once

#include <string>
#include <vector>

#include "core/config_node.h"
#include "core/field.h"
#include "core/position.h"

namespace tpack {

/// One place that sets or deletes a key.
struct Origin {
  Position where;
  std::string value;  // as JSON on one line, before expressions are resolved; "deleted"
  bool used = false;  // the source of the effective value (for a map or list: the last place that changed it)

  /// "train.yaml:5:3: 64" and, for the used one, " (used)".
  std::string str() const;
  /// {"where": "train.yaml:5:3", "value": 64, "used": true}; a deletion has "deleted": true and no value.
  std::string json() const;
};

/// The places that set `key`, in the order in which they were applied. `sources` are the trees of the files
/// and options in that order, `merged` is the result; all have the type `structure`. Empty if nothing sets
/// the key.
std::vector<Origin> explain(const std::vector<ConfigNode>& sources, const ConfigNode& merged,
                            const FieldType& structure, const std::string& key);

/// Throws the ConfigError for a key that does not exist in `config`, which includes all defaults.
[[noreturn]] void throw_unknown_key(const ConfigNode& config, const FieldType& structure,
                                    const std::string& key);

}  // namespace tpack
