#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "core/registry.h"
#include "core/text.h"
#include "reports/component_docs.h"

namespace tpack {
namespace {

/// The possible values of an argument: words, and files with a suffix.
struct Values {
  std::vector<std::string> words;
  std::string suffix;  // "yaml"; empty: no files

  bool empty() const { return words.empty() && suffix.empty(); }
};

/// A subcommand with its possible arguments, including its own subcommands.
struct CommandWords {
  std::string name;
  std::vector<std::string> options;  // "--set", and names of subcommands
  Values arguments;
  std::map<std::string, Values> option_values;  // by option: "--resume"
};

std::vector<std::string> component_names() {
  std::vector<std::string> names;
  for (const std::string& kind : documented_kinds()) {
    for (const ComponentInfo* info : ComponentTable::of(kind).list()) names.push_back(info->name);
  }
  return names;
}

/// The values of an argument by its name, prefixed by the command if the name is ambiguous.
Values values_of(const std::string& command, const std::string& argument) {
  static const std::map<std::string, Values> kKnown = {
      {"config", {{}, "yaml"}},
      {"model", {{}, "h5"}},
      {"ckpt file", {{}, "h5"}},
      {"ckpt files", {{}, "h5"}},
      {"train --resume", {{"auto", "never"}, "h5"}},
      {"train --plan", {{}, "json"}},
      {"describe name", {component_names(), ""}},
      {"list kind", {documented_kinds(), ""}},
  };
  for (const std::string& key : {command + " " + argument, argument}) {
    const auto found = kKnown.find(key);
    if (found != kKnown.end()) return found->second;
  }
  return {};
}

void add_unique(std::vector<std::string>& words, const std::string& word) {
  if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
}

/// The allowed words of an option's check: CLI11 shows them as "TEXT:{a,b}".
std::vector<std::string> allowed_words(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t begin = type.find('{');
  const size_t end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
  return split(type.substr(begin + 1, end - begin - 1), ',');
}

void add_arguments(const CLI::App& command, CommandWords& all) {
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      const std::string word = "--" + name;
      add_unique(all.options, word);
      Values values = values_of(all.name, word);
      if (values.empty()) values.words = allowed_words(*option);
      if (!values.empty()) all.option_values[word] = values;
    }
    if (!option->get_positional()) continue;
    Values values = values_of(all.name, option->get_single_name());
    if (values.empty()) values.words = allowed_words(*option);
    for (const std::string& word : values.words) add_unique(all.arguments.words, word);
    if (!values.suffix.empty()) all.arguments.suffix = values.suffix;
  }
}

std::vector<CommandWords> words_of(const CLI::App& program) {
  std::vector<CommandWords> all;
  for (const CLI::App* command : program.get_subcommands(nullptr)) {
    CommandWords one;
    one.name = command->get_name();
    add_arguments(*command, one);
    for (const CLI::App* nested : command->get_subcommands(nullptr)) {
      one.options.push_back(nested->get_name());
      add_arguments(*nested, one);
    }
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<std::string> names_of(const std::vector<CommandWords>& all) {
  std::vector<std::string> names;
  for (const CommandWords& one : all) names.push_back(one.name);
  return names;
}

/// A branch of the script's `case`.
std::string bash_case(const std::string& pattern, const std::vector<std::string>& options,
                      const Values& values) {
  std::vector<std::string> words = options;
  words.insert(words.end(), values.words.begin(), values.words.end());
  return "    " + pattern + ") words='" + join(words, "\n") + "'; suffix='" + values.suffix + "' ;;\n";
}

std::string bash(const std::vector<CommandWords>& all) {
  std::string text =
      "_tpack() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command='' words='' "
      "suffix='' i\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do  # after options of the program itself\n"
      "    [[ ${COMP_WORDS[i]} != -* ]] && { command=${COMP_WORDS[i]}; break; }\n"
      "  done\n"
      "  case \"$command $before\" in\n";
  for (const CommandWords& one : all) {
    for (const auto& [option, values] : one.option_values)
      text += bash_case("'" + one.name + " " + option + "'", {}, values);
  }
  text += "    *) case \"$command\" in\n" + bash_case("''", names_of(all), {});
  for (const CommandWords& one : all) text += bash_case(one.name, one.options, one.arguments);
  return text +
         "    esac ;;\n  esac\n"
         "  local IFS=$'\\n'  # words and file names may have spaces\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "  [ -n \"$suffix\" ] && COMPREPLY+=($(compgen -f -X \"!*.$suffix\" -- \"$word\") "
         "$(compgen -d -- \"$word\"))\n"
         "  return 0\n}\n"
         "complete -o default -o filenames -F _tpack tpack\n";
}

std::string zsh(const std::vector<CommandWords>& all) {
  return "autoload -U +X bashcompinit && bashcompinit\n" + bash(all);
}

/// The values in the format of fish's `-a`.
std::string fish_values(const Values& values) {
  std::string text;
  for (const std::string& word : values.words) {
    if (!text.empty()) text += " ";
    text += join(split(word, ' '), "\\ ");  // kinds of components have blanks
  }
  if (!values.suffix.empty())
    text += (text.empty() ? "" : " ") + ("(__fish_complete_suffix ." + values.suffix) + ")";
  return " -f -a '" + text + "'";
}

std::string fish(const std::vector<CommandWords>& all) {
  std::string text = "complete -c tpack -n __fish_use_subcommand -f -a '" + join(names_of(all), " ") + "'\n";
  for (const CommandWords& one : all) {
    const std::string after = "complete -c tpack -n '__fish_seen_subcommand_from " + one.name + "'";
    if (!one.arguments.empty()) text += after + fish_values(one.arguments) + "\n";
    for (const std::string& word : one.options) {
      const auto values = one.option_values.find(word);
      text += after + (word.starts_with("--") ? " -l " + word.substr(2) : " -a " + word);
      text += values != one.option_values.end() ? " -r" + fish_values(values->second) + "\n" : "\n";
    }
  }
  return text;
}

void add_completion_options(CLI::App& command, Action& action) {
  auto shell = std::make_shared<std::string>();
  command.add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command.callback([shell, &command, &action] {
    action = [shell, &command] {
      const auto all = words_of(*command.get_parent());
      std::cout << (*shell == "bash" ? bash(all) : *shell == "zsh" ? zsh(all) : fish(all));
      return 0;
    };
  });
}

const Subcommand kCompletionCommand("completion", "Print a completion script for a shell",
                                    add_completion_options);

}  // namespace
}  // namespace tpack
