#pragma once

#include <string>
#include <vector>

#include "config/yaml_reader.h"
#include "core/config_node.h"
#include "core/field.h"

namespace tpack {

/// The config of `--set KEY=VALUE`: VALUE (YAML) below the dotted KEY. All nodes have the position "--set
/// KEY". Errors: ConfigError if '=' is missing or a word of KEY is empty; errors of parse_yaml.
ConfigNode parse_override(const std::string& text, NodeBudget& budget);

/// Rejects a path that does not exist in `config`, which has type `structure`, but is similar to one that
/// does: a word before the last, or a name in `vars`. A field that is not written yet is allowed. Errors:
/// ConfigError with the nearest word.
void check_override(const ConfigNode& config, const FieldType& structure, const ConfigNode& override_tree);

/// Rejects `LIST.0.CSV.path=X` if item 0 is another component. `text` is an argument of parse_override.
/// Errors: ConfigError that explains how to replace the item.
void check_numbered_items(const ConfigNode& config, const FieldType& structure, const std::string& text);

}  // namespace tpack
