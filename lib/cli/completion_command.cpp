#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "core/error.h"
#include "core/text.h"

namespace tpack {
namespace {

/// A subcommand with the words that may follow it: its options and its own subcommands.
struct CommandWords {
  std::string name;
  std::vector<std::string> words;
};

void add_options(const CLI::App& command, std::vector<std::string>& words) {
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      const std::string word = "--" + name;
      if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    }
  }
}

std::vector<CommandWords> words_of(const CLI::App& program) {
  std::vector<CommandWords> all;
  for (const CLI::App* command : program.get_subcommands(nullptr)) {
    CommandWords one{command->get_name(), {}};
    add_options(*command, one.words);
    for (const CLI::App* nested : command->get_subcommands(nullptr)) {
      one.words.push_back(nested->get_name());
      add_options(*nested, one.words);
    }
    all.push_back(std::move(one));
  }
  return all;
}

std::string names_of(const std::vector<CommandWords>& all) {
  std::vector<std::string> names;
  for (const CommandWords& one : all) names.push_back(one.name);
  return join(names, " ");
}

std::string bash(const std::vector<CommandWords>& all) {
  std::string text =
      "_tpack() {\n  local word=${COMP_WORDS[COMP_CWORD]}\n  local words=''\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then words='" +
      names_of(all) +
      "'; fi\n"
      "  case \"${COMP_WORDS[1]}\" in\n";
  for (const CommandWords& one : all) {
    text += "    " + one.name + ") [ \"$COMP_CWORD\" -gt 1 ] && words='" + join(one.words, " ") + "' ;;\n";
  }
  return text +
         "  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\n"
         "complete -o default -F _tpack tpack\n";
}

std::string zsh(const std::vector<CommandWords>& all) {
  return "autoload -U +X bashcompinit && bashcompinit\n" + bash(all);
}

std::string fish(const std::vector<CommandWords>& all) {
  std::string text = "complete -c tpack -n __fish_use_subcommand -f -a '" + names_of(all) + "'\n";
  for (const CommandWords& one : all) {
    for (const std::string& word : one.words) {
      const std::string what = word.starts_with("--") ? "-l " + word.substr(2) : "-a " + word;
      text += "complete -c tpack -n '__fish_seen_subcommand_from " + one.name + "' " + what + "\n";
    }
  }
  return text;
}

}  // namespace

void add_completion_command(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("completion", "Print a completion script for a shell");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([shell, &action, &program] {
    action = [shell, &program] {
      const auto all = words_of(program);
      std::cout << (*shell == "bash" ? bash(all) : *shell == "zsh" ? zsh(all) : fish(all));
      return 0;
    };
  });
}

}  // namespace tpack
