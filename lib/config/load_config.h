#pragma once

#include <string>
#include <vector>

#include "config/explain.h"
#include "core/config_node.h"

namespace tpack {

constexpr int kConfigVersion = 1;
constexpr int kMaxIncludeDepth = 16;

struct LoadOptions {
  std::vector<std::string> overrides = {};  // "KEY=VALUE", applied in order after all files
};

/// A config as its files and options give it.
struct LoadedConfig {
  ConfigNode root;                  // without `include`, expressions resolved (see resolve.h for `model`)
  ConfigNode merged;                // the same before expressions were resolved
  std::vector<ConfigNode> sources;  // each file and option alone, in the order in which they were applied

  /// Where the value of a dotted key comes from; empty if nothing sets it.
  std::vector<Origin> explain(const std::string& key) const { return tpack::explain(sources, merged, key); }
};

/// Reads a config file with what it includes (paths relative to the file that includes; later includes win,
/// the file itself wins over all), applies the overrides and resolves expressions.
/// Errors: ConfigError with every mistake found, each with its place.
LoadedConfig load_config(const std::string& path, const LoadOptions& options = {});
/// The same for the text of a config that lies elsewhere (in a checkpoint); `name` is what positions show.
LoadedConfig load_config_text(const std::string& text, const std::string& name,
                              const LoadOptions& options = {});

}  // namespace tpack
