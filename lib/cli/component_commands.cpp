#include <iostream>
#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/options.h"
#include "config/zoo.h"
#include "core/text.h"
#include "draw/figures.h"
#include "draw/text_table.h"
#include "learner/plugins.h"
#include "reports/component_docs.h"
#include "system/terminal.h"

namespace tpack {
namespace {

constexpr const char* kZooWord = "zoo";

struct ComponentOptions {
  std::string word;  // a kind, or a component's name
  std::vector<std::string> plugins;
  bool json = false;
};

void add_options(CLI::App& command, ComponentOptions& options) {
  add_plugin_option(command, options.plugins);
  add_json_flag(command, options.json);
}

/// Kinds that match a word: "layer", "layers", or all if it is empty.
std::vector<std::string> kinds_of(const std::string& word) {
  std::vector<std::string> all = documented_kinds();
  if (word.empty()) return all;
  all.emplace_back(kZooWord);
  for (const std::string& kind : all) {
    if (kind == word || kind + "s" == word) return {kind};
  }
  throw ConfigError("unknown kind '" + word + "'" + did_you_mean(word, all) + "; known: " + join(all, ", "));
}

size_t width() { return static_cast<size_t>(text_width(STDOUT_FILENO)); }

/// The networks of `include: zoo:NAME`.
int list_zoo(bool as_json) {
  auto json = nlohmann::ordered_json::array();
  TextTable table({"network", "parameters", "GMACs", "published top-1, %", "source"});
  for (const ZooNetwork& one : zoo_networks()) {
    table.add(
        {one.name, with_thousands(one.parameters), fixed(one.gmacs, 2), fixed(one.top1, 1), one.source});
    json.push_back({{"name", one.name},
                    {"parameters", one.parameters},
                    {"gmacs", one.gmacs},
                    {"top1", one.top1},
                    {"source", one.source},
                    {"page", one.page}});
  }
  std::cout << (as_json ? json.dump(1) + "\n" : table.str(width()));
  return 0;
}

int list(const ComponentOptions& o) {
  if (o.word == kZooWord) return list_zoo(o.json);
  load_plugins(o.plugins);
  auto json = nlohmann::ordered_json::array();
  for (const std::string& kind : kinds_of(o.word)) {
    TextTable table;
    for (const ComponentInfo* info : ComponentTable::of(kind).list()) {
      table.add({"  " + info->name, info->summary()});
      json.push_back(
          {{"kind", kind}, {"name", info->name}, {"aliases", info->aliases}, {"summary", info->summary()}});
    }
    if (!o.json) std::cout << kind << "\n" << table.str(width());
  }
  if (o.json) std::cout << json.dump(1) << "\n";
  return 0;
}

int describe_named(const ComponentOptions& o) {
  load_plugins(o.plugins);
  auto all = nlohmann::ordered_json::array();
  const std::string section =
      o.json ? describe_section_json(o.word) + "\n" : describe_section(o.word, width());
  if (section.size() > 1) {
    std::cout << section;
    return 0;
  }
  std::string text;
  for (const ComponentInfo* info : components_named(o.word)) {
    all.push_back(nlohmann::ordered_json::parse(describe_json(*info)));
    text += (text.empty() ? "" : "\n") + describe(*info, width());
  }
  std::cout << (o.json ? all.dump(1) + "\n" : text);
  return 0;
}

void add_list_options(CLI::App& command, Action& action) {
  auto options = std::make_shared<ComponentOptions>();
  command.add_option(
      "kind", options->word,
      "layer, source, map, stage, callback, trainer, ..., or zoo: the networks of `include: zoo:NAME`");
  add_options(command, *options);
  command.callback([options, &action] { action = [options] { return list(*options); }; });
}

const Subcommand kListCommand("list", "List the components that a config can use", add_list_options);

void add_describe_options(CLI::App& command, Action& action) {
  auto options = std::make_shared<ComponentOptions>();
  command
      .add_option("name", options->word,
                  "a component, such as Conv2D, or a section of a config, such as updates")
      ->required();
  add_options(command, *options);
  command.callback([options, &action] { action = [options] { return describe_named(*options); }; });
}

const Subcommand kDescribeCommand("describe", "Show the parameters of a component or section",
                                  add_describe_options);

}  // namespace
}  // namespace tpack
