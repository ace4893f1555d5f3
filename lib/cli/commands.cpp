#include "cli/commands.h"

#include <algorithm>
#include <vector>

#include <CLI/CLI.hpp>

namespace tpack {
namespace {

struct KnownSubcommand {
  std::string name;
  const char* summary;
  Subcommand::AddOptions add_options;
};

std::vector<KnownSubcommand>& subcommands() {
  static std::vector<KnownSubcommand> all;
  return all;
}

}  // namespace

Subcommand::Subcommand(const char* name, const char* summary, AddOptions add_options) {
  subcommands().push_back({name, summary, add_options});
}

void Subcommand::add_all(CLI::App& program, Action& action) {
  std::sort(subcommands().begin(), subcommands().end(),
            [](const KnownSubcommand& a, const KnownSubcommand& b) { return a.name < b.name; });
  for (const KnownSubcommand& one : subcommands()) {
    CLI::App* command = program.add_subcommand(one.name, one.summary);
    command->fallthrough();  // options of the program, such as --quiet, may also follow the command
    one.add_options(*command, action);
  }
}

}  // namespace tpack
