#pragma once

#include <string>
#include <vector>

#include "config/yaml_reader.h"
#include "core/config_node.h"
#include "core/field.h"

namespace tpack {

/// The config that `--set KEY=VALUE` stands for: VALUE (YAML) below the dotted KEY. All of it has the
/// position "--set KEY". Errors: ConfigError if there is no '=' or a word of KEY is empty; what parse_yaml
/// rejects.
ConfigNode parse_override(const std::string& text, NodeBudget& budget);

/// Rejects a path that leads nowhere in `config`, which is of the type `structure`, but is nearly one that
/// does: a word of it that is not the last, or a name in `vars`. A field that is not written yet is no
/// mistake. Errors: ConfigError with the nearest word.
void check_override(const ConfigNode& config, const FieldType& structure, const ConfigNode& override_tree);

/// Rejects `LIST.0.CSV.path=X` if item 0 is another component. `text` is one that parse_override reads.
/// Errors: ConfigError that says how to replace the item.
void check_numbered_items(const ConfigNode& config, const FieldType& structure, const std::string& text);

}  // namespace tpack
