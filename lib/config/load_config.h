#pragma once

#include <string>
#include <vector>

#include "config/explain.h"
#include "core/config_node.h"
#include "core/field.h"

namespace tpack {

constexpr int kConfigVersion = 1;
constexpr int kMaxIncludeDepth = 16;

struct LoadOptions {
  std::vector<std::string> overrides = {};  // "KEY=VALUE", applied in order after all files
  /// The structure of a config. If it is unknown, maps are merged key by key, lists are addressed by number,
  /// name and component, and all expressions are resolved.
  FieldType structure = {};
};

/// A config from its files and options.
struct LoadedConfig {
  ConfigNode root;    // without `include`, expressions resolved (see resolve.h for `model`)
  ConfigNode merged;  // the same before expressions were resolved
  std::vector<ConfigNode>
      sources;  // each file and option separately, in the order in which they were applied
  FieldType structure = {};

  /// The origin of the value of a dotted key; empty if nothing sets it.
  std::vector<Origin> explain(const std::string& key) const {
    return tpack::explain(sources, merged, structure, key);
  }
};

/// Reads a config file with its includes (paths are relative to the including file; later includes win, the
/// file itself wins over all), applies the overrides and resolves expressions. Errors: ConfigError with every
/// mistake found, each with its place.
LoadedConfig load_config(const std::string& path, const LoadOptions& options = {});
/// The same for the text of a config in a checkpoint, which may be another user's: it must not include files
/// or read environment variables. Positions show `name` as the file.
LoadedConfig load_config_text(const std::string& text, const std::string& name,
                              const LoadOptions& options = {});

}  // namespace tpack
