#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace tpack {

/// The work after the command line is read; returns the exit code.
using Action = std::function<int()>;

/// "tpack 0.1.0 (plugins: version 8, ...)".
std::string version_text();

/// A subcommand of the program: name, line of help, and a function that adds its options and, when the
/// command line selects it, sets `action` to its work. Define one object at namespace scope; help and
/// completion then list it.
class Subcommand {
 public:
  using AddOptions = void (*)(CLI::App& command, Action& action);
  Subcommand(const char* name, const char* summary, AddOptions add_options);

  /// Adds every subcommand, sorted by name.
  static void add_all(CLI::App& program, Action& action);
};

}  // namespace tpack
