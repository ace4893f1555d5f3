#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/options.h"
#include "experiment/json_schema.h"
#include "experiment/plugins.h"

namespace tpack {

void add_schema_command(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("schema", "Print the JSON Schema of configs, for editors");
  auto plugins = std::make_shared<std::vector<std::string>>();
  add_plugin_option(*command, *plugins);
  command->callback([plugins, &action] {
    action = [plugins] {
      load_plugins(*plugins);
      std::cout << json_schema() << "\n";
      return 0;
    };
  });
}

}  // namespace tpack
