#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/json_schema.h"
#include "cli/plugins.h"

namespace tpack {

void add_schema_command(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("schema", "Print the JSON Schema of configs, for editors");
  auto plugins = std::make_shared<std::vector<std::string>>();
  command->add_option("--plugin", *plugins, "a plugin whose components are part of it (any number of times)");
  command->callback([plugins, &action] {
    action = [plugins] {
      load_plugins(*plugins);
      std::cout << json_schema() << "\n";
      return 0;
    };
  });
}

}  // namespace tpack
