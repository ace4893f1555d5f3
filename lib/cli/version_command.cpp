#include <iostream>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/version.h"
#include "core/plugin.h"

namespace tpack {

std::string version_text() {
  return std::string("tpack ") + kVersion + " (plugins: " + kPluginAbi.str() + ")";
}

namespace {

void add_version_options(CLI::App& command, Action& action) {
  command.callback([&action] {
    action = [] {
      std::cout << version_text() << "\n";
      return 0;
    };
  });
}

const Subcommand kVersionCommand("version", "Show the version", add_version_options);

}  // namespace
}  // namespace tpack
