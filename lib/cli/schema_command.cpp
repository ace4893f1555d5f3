#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/options.h"
#include "learner/plugins.h"
#include "reports/json_schema.h"

namespace tpack {
namespace {

void add_schema_options(CLI::App& command, Action& action) {
  auto plugins = std::make_shared<std::vector<std::string>>();
  add_plugin_option(command, *plugins);
  command.callback([plugins, &action] {
    action = [plugins] {
      load_plugins(*plugins);
      std::cout << json_schema() << "\n";
      return 0;
    };
  });
}

const Subcommand kSchemaCommand("schema", "Print the JSON Schema of configs, for editors",
                                add_schema_options);

}  // namespace
}  // namespace tpack
