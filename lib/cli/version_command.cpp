#include <iostream>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/version.h"
#include "core/plugin.h"

namespace tpack {

std::string version_text() {
  return std::string("tpack ") + kVersion + " (plugins: " + kPluginAbi.str() + ")";
}

void add_version_command(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("version", "Show the version");
  command->callback([&action] {
    action = [] {
      std::cout << version_text() << "\n";
      return 0;
    };
  });
}

}  // namespace tpack
