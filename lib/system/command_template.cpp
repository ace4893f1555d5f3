#include "system/command_template.h"

#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "system/log.h"

namespace tpack {
namespace {

/// Passes on the text outside of braces and the names inside. Errors: ConfigError.
void take_apart(const std::string& text, const std::string& owner,
                const std::function<void(char)>& on_character,
                const std::function<void(const std::string&)>& on_name) {
  const auto bad = [&](const std::string& what) {
    return ConfigError(owner + ": '" + text + "' " + what +
                       "; write {NAME} for a value, and {{ or }} for a brace");
  };
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c != '{' && c != '}') {
      on_character(c);
    } else if (at + 1 < text.size() && text[at + 1] == c) {
      on_character(c);
      ++at;
    } else if (c == '}') {
      throw bad("has a '}' without a '{'");
    } else {
      const size_t end = text.find('}', at);
      if (end == std::string::npos) throw bad("has a '{' without a '}'");
      const std::string name = text.substr(at + 1, end - at - 1);
      if (name.empty() || name.find('{') != std::string::npos) throw bad("has braces without a name");
      on_name(name);
      at = end;
    }
  }
}

}  // namespace

CommandTemplate::CommandTemplate(std::vector<std::string> arguments, const std::string& owner)
    : arguments_(std::move(arguments)) {
  if (arguments_.empty() || arguments_[0].empty())
    throw ConfigError(owner + ": 'command' has no program; write a list such as [notify, done]");
  for (const std::string& argument : arguments_) {
    take_apart(
        argument, owner, [](char) {},
        [&](const std::string& name) {
          if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
        });
  }
}

std::vector<std::string> CommandTemplate::filled(
    const std::function<std::string(const std::string&)>& value) const {
  std::vector<std::string> all;
  for (const std::string& argument : arguments_) {
    std::string text;
    take_apart(
        argument, "", [&](char c) { text += c; }, [&](const std::string& name) { text += value(name); });
    all.push_back(std::move(text));
  }
  return all;
}

bool run_logged(const std::string& who, const std::vector<std::string>& command, double timeout_s,
                const std::stop_token& stop) {
  try {
    const ProcessEnd end = ChildProcess(command).wait(timeout_s, stop);
    const std::string text = who + ": '" + join(command, " ") + "': " + end.str();
    if (end.is_success()) {
      log::info(text);
    } else {
      log::warning(text);
    }
    return end.is_success();
  } catch (const ResourceError& error) {
    log::warning(who + ": " + error.what());
    return false;
  }
}

}  // namespace tpack
