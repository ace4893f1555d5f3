#include "cli/program.h"

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "core/error.h"
#include "core/text.h"
#include "system/log.h"

namespace tpack {
namespace {

constexpr const char* kDescription =
    "tpack trains neural networks from YAML.\n\n"
    "  tpack check configs/digits.yaml         show what would be trained\n"
    "  tpack train configs/digits.yaml         train; files go to train_log/digits\n"
    "  tpack describe Conv2D                   parameters of a component\n";

/// The nearest subcommand if the first word is unknown.
std::string hint(const CLI::App& program, int argc, char** argv) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands(nullptr)) names.push_back(command->get_name());
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.starts_with("-")) continue;
    if (std::find(names.begin(), names.end(), word) != names.end()) return "";
    return "unknown command '" + word + "'" + did_you_mean(word, names);
  }
  return "";
}

/// The requested command as written: "tpack data inspect".
struct Asked {
  explicit Asked(const CLI::App& program) : command(&program), path(program.get_name()) {
    while (!command->get_subcommands().empty()) {
      command = command->get_subcommands().front();
      path += " " + command->get_name();
    }
  }
  const CLI::App* command;
  std::string path;
};

/// The nearest option if a word looks like an option but is unknown to the command.
std::string option_hint(const CLI::App& program, const Asked& asked) {
  std::vector<std::string> known;
  for (const CLI::Option* option : asked.command->get_options()) known.push_back(option->get_name());
  for (const std::string& word : program.remaining(true)) {
    if (word.starts_with("-"))
      return "unknown option '" + word + "' of " + asked.path + did_you_mean(word, known);
  }
  return "";
}

/// The option without a value: it is the last word, or another option follows it.
std::string value_hint(const Asked& asked, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const CLI::Option* option = asked.command->get_option_no_throw(argv[i]);
    if (option == nullptr || option->get_items_expected_min() == 0) continue;
    if (i + 1 == argc || std::string(argv[i + 1]).starts_with("--"))
      return std::string(argv[i]) + " needs a value (" + option->get_description() + ")";
  }
  return "";
}

int usage_error(const CLI::App& program, const CLI::ParseError& error, int argc, char** argv) {
  std::string unknown = hint(program, argc, argv);
  const Asked asked(program);
  if (unknown.empty()) unknown = option_hint(program, asked);
  if (unknown.empty()) unknown = value_hint(asked, argc, argv);
  std::fprintf(stderr, "error: %s; see %s --help\n", unknown.empty() ? error.what() : unknown.c_str(),
               asked.path.c_str());
  return static_cast<int>(ErrorKind::kConfig);
}

/// The exit code, or an error if standard output could not be written.
int flushed(int exit_code) {
  std::cout.flush();
  const bool arrived = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  if (arrived || exit_code != 0) return exit_code;
  std::fprintf(stderr, "error: standard output cannot be written\n");
  return static_cast<int>(ErrorKind::kResource);
}

}  // namespace

int run_program(int argc, char** argv) {
  CLI::App program(kDescription, "tpack");
  program.require_subcommand(1);
  program.set_version_flag("--version", version_text());
  bool verbose = false;
  bool quiet = false;
  program.add_flag("-v,--verbose", verbose, "more messages");
  program.add_flag("-q,--quiet", quiet, "only warnings and errors");
  Action action;
  Subcommand::add_all(program, action);
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& shown) {  // --help, --version
    const std::string unknown = hint(program, argc, argv);
    if (unknown.empty()) return flushed(program.exit(shown));
    std::fprintf(stderr, "error: %s; see tpack --help\n", unknown.c_str());
    return static_cast<int>(ErrorKind::kConfig);
  } catch (const CLI::ParseError& error) {
    return usage_error(program, error, argc, argv);
  }
  if (verbose) log::set_level(log::Level::kDebug);
  if (quiet) log::set_level(log::Level::kWarning);
  return flushed(guarded(action));
}

}  // namespace tpack
