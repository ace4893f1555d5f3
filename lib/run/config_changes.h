#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/config_node.h"
#include "graph/variables.h"

namespace tpack {

/// What a resumed run says differently from the config in its checkpoint: "optimizer.Adam.learning_rate was
/// 0.002, is 0.5". Not its name, nor that it is to be longer; `vars` only where they are used. Errors:
/// ConfigError at `optimizer` if the optimizer is another one, whose state the checkpoint does not have.
std::vector<std::string> config_changes(const ConfigNode& checkpoint, const ConfigNode& run,
                                        const Position& optimizer);

/// What resumed runs of a training changed in the config: a line for each, by the global_step from which it
/// holds.
class ChangeHistory {
 public:
  ChangeHistory() = default;
  /// Of the text `kChanges` of a checkpoint. Errors: CheckpointError.
  ChangeHistory(const std::string& json, const std::string& source);

  void add(int64_t global_step, const std::vector<std::string>& changes);
  bool empty() const { return all_.empty(); }
  std::string to_json() const;
  /// "from global_step 200: optimizer.Adam.learning_rate was 0.002, is 0.0001".
  std::vector<std::string> lines() const;

 private:
  std::map<int64_t, std::vector<std::string>> all_;
};

/// The first values of hyper-parameters as a config has them; nothing for those that follow a schedule.
using FirstValues = std::map<std::string, std::optional<double>>;
FirstValues first_values(const VariableTable& table);
std::string to_json(const FirstValues& values);
/// Errors: CheckpointError.
FirstValues first_values_from(const std::string& json, const std::string& source);

/// The same of what divides the sources of `data` into parts. Samples that were learned would be in other
/// parts.
std::vector<std::string> split_changes(const ConfigNode& checkpoint, const ConfigNode& run);

}  // namespace tpack
