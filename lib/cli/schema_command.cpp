#include <iostream>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/json_schema.h"

namespace tpack {

void add_schema_command(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("schema", "Print the JSON Schema of configs, for editors");
  command->callback([&action] {
    action = [] {
      std::cout << json_schema() << "\n";
      return 0;
    };
  });
}

}  // namespace tpack
