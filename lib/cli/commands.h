#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace tpack {

/// What is done once the command line is read; returns the exit code.
using Action = std::function<int()>;

/// "tpack 0.1.0 (plugins: version 8, ...)".
std::string version_text();

/// A subcommand of the program: name, line of help, and a function that adds its options and, when the
/// command line names it, sets `action` to its work. An object at namespace scope is all that it takes; help
/// and completion list it.
class Subcommand {
 public:
  using AddOptions = void (*)(CLI::App& command, Action& action);
  Subcommand(const char* name, const char* summary, AddOptions add_options);

  /// Adds every subcommand, sorted by name.
  static void add_all(CLI::App& program, Action& action);
};

}  // namespace tpack
