#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/config_node.h"
#include "graph/variables.h"

namespace tpack {

/// Differences between the config of a resumed run and the config in its checkpoint:
/// "optimizer.Adam.learning_rate was 0.002, is 0.5". Excludes the name and a longer run; includes `vars` only
/// where they are used. Errors: ConfigError at `optimizer` for a different optimizer, because the checkpoint
/// has no state for it.
std::vector<std::string> config_changes(const ConfigNode& checkpoint, const ConfigNode& run,
                                        const Position& optimizer);

/// Config changes of resumed runs of a training: a line for each, by the global_step from which it applies.
class ChangeHistory {
 public:
  ChangeHistory() = default;
  /// Reads the text `kChanges` of a checkpoint. Errors: CheckpointError.
  ChangeHistory(const std::string& json, const std::string& source);

  void add(int64_t global_step, const std::vector<std::string>& changes);
  bool empty() const { return all_.empty(); }
  std::string to_json() const;
  /// "from global_step 200: optimizer.Adam.learning_rate was 0.002, is 0.0001".
  std::vector<std::string> lines() const;

 private:
  std::map<int64_t, std::vector<std::string>> all_;
};

/// The initial values of hyper-parameters in a config; without those that follow a schedule.
using FirstValues = std::map<std::string, std::optional<double>>;
FirstValues first_values(const VariableTable& table);
std::string to_json(const FirstValues& values);
/// Errors: CheckpointError.
FirstValues first_values_from(const std::string& json, const std::string& source);

/// The same for the settings that divide the sources of `data` into parts: training samples would be in
/// different parts.
std::vector<std::string> split_changes(const ConfigNode& checkpoint, const ConfigNode& run);

}  // namespace tpack
