#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/options.h"
#include "config/item_address.h"
#include "core/text.h"
#include "experiment/experiment.h"

namespace tpack {
namespace {

struct ConfigOptions {
  ConfigArguments config;
  bool resolved = false;
  bool json = false;
  std::string key;
};

void print(const ConfigNode& node, bool json) { std::cout << (json ? to_json(node) + "\n" : to_yaml(node)); }

ConfigNode effective(const LoadedConfig& config, const ConfigOptions& o) {
  return make_experiment(config, std::filesystem::path(o.config.file).stem().string()).effective();
}

/// The text of the default, which has no position.
std::string default_text(const LoadedConfig& config, const ConfigOptions& o) {
  const ConfigNode all = effective(config, o);
  const auto found = find_path({all, {}, config.structure}, split(o.key, '.'));
  if (!found) throw_unknown_key(all, config.structure, o.key);
  return to_json(found->node);
}

void print_origins(const LoadedConfig& config, const ConfigOptions& o) {
  std::vector<std::string> lines;
  for (const Origin& origin : config.explain(o.key)) lines.push_back(o.json ? origin.json() : origin.str());
  if (lines.empty()) {
    const std::string value = default_text(config, o);
    lines.push_back(o.json ? R"({"where": "default", "value": )" + value + R"(, "used": true})"
                           : "default: " + value + " (used)");
  }
  std::cout << (o.json ? "[" + join(lines, ",\n ") + "]" : join(lines, "\n")) << "\n";
}

/// For --explain: a key that can be split into words.
CLI::Validator dotted_key() {
  const auto complaint = [](const std::string& key) -> std::string {
    const std::vector<std::string> words = split(key, '.');
    const bool whole = std::find(words.begin(), words.end(), "") == words.end();
    return whole ? "" : "needs a key such as optimizer.Adam.learning_rate, not '" + key + "'";
  };
  return {complaint, "KEY"};
}

int show(const ConfigOptions& o) {
  const LoadedConfig config = load_experiment_config(o.config.file, o.config.overrides);
  if (!o.key.empty()) {
    print_origins(config, o);
  } else if (o.resolved) {
    print(effective(config, o), o.json);
  } else {
    print(config.merged, o.json);
  }
  return 0;
}

void add_config_options(CLI::App& command, Action& action) {
  auto options = std::make_shared<ConfigOptions>();
  add_config_arguments(command, options->config);
  command.add_flag(
      "--resolved", options->resolved,
      "write out all defaults, and replace expressions (in layers, only those with dotted names)");
  command.add_option("--explain", options->key, "show every place that sets this dotted key")
      ->type_name("KEY")
      ->check(dotted_key());
  add_json_flag(command, options->json);
  command.callback([options, &action] { action = [options] { return show(*options); }; });
}

const Subcommand kConfigCommand("config", "Show a config with its includes and overrides",
                                add_config_options);

}  // namespace
}  // namespace tpack
