#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "system/process.h"

namespace tpack {

/// A command as a list of arguments with placeholders for values: ["notify", "epoch {epoch}"]. `{{` and `}}`
/// are braces. There is no shell: a value is always part of a single argument.
class CommandTemplate {
 public:
  CommandTemplate() = default;
  /// Errors: ConfigError if there is no program, or a brace has no partner; `owner` is for the message.
  CommandTemplate(std::vector<std::string> arguments, const std::string& owner);

  /// The names between braces, in order, without duplicates.
  const std::vector<std::string>& names() const { return names_; }
  std::vector<std::string> filled(const std::function<std::string(const std::string& name)>& value) const;

 private:
  std::vector<std::string> arguments_;
  std::vector<std::string> names_;
};

/// Runs a command to its end and logs the result, as a warning if it failed or could not be started; returns
/// true on success. `who` is the caller. Errors: Stopped.
bool run_logged(const std::string& who, const std::vector<std::string>& command, double timeout_s,
                const std::stop_token& stop = {});

}  // namespace tpack
