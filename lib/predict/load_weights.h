#pragma once

#include <string>
#include <vector>

#include "backend/variable_store.h"
#include "checkpoint/checkpoint.h"
#include "core/config_node.h"
#include "core/field.h"

namespace tpack {

/// Which variables of a file are loaded, and under which names: the fields of `init` except `from`. Patterns
/// as in is_for_variable.
struct LoadRules {
  std::vector<std::string> include = {".*"};  // names in the model, after renaming
  std::vector<std::string> exclude = {};
  /// In order; the first pattern that matches a name of the file, or a prefix of it, determines the
  /// replacement ("$1" is a group).
  std::vector<std::pair<std::string, std::string>> rename = {};
};

/// The result for each variable.
struct LoadReport {
  std::vector<std::string> loaded;
  std::vector<std::string> missing;     // wanted by the model, not in the file
  std::vector<std::string> extra;       // in the file, not in the model
  std::vector<std::string> mismatched;  // "fc1/W: float32 [512, 10] in the file, float32 [512, 100] here"
  std::vector<std::string> left_out;    // by the rules
  std::vector<std::string> idle;  // rules that match no variable: "exclude: no variable matches 'fc9/.*'..."

  /// One line, and one more for each variable that was not loaded.
  std::string str(const std::string& source) const;
};

/// Reads {include, exclude, rename} (lists of patterns, and a map of pattern to name). Reports to `errors`.
LoadRules parse_load_rules(const ConfigNode& node, const std::string& owner, Diagnostics& errors);

/// The settings of such a map, for tools.
std::vector<FieldInfo> load_rules_fields();

/// Copies the model's variables (scope `model`) from a checkpoint's content by name; float types are
/// converted, shapes must be equal. Other variables keep their values and are in the report. Errors:
/// ConfigError for a pattern that is not a regular expression.
LoadReport load_weights(VariableStore& store, const CheckpointContent& content, const LoadRules& rules = {});

/// Errors: CheckpointError with `source` if any variable of the model is missing or mismatched. Call before
/// the variables are allocated: the config of a checkpoint may declare any size.
void require_all_weights(const VariableTable& model, const CheckpointContent& content,
                         const std::string& source);
/// As load_weights, for running a trained model. Errors: as require_all_weights.
void load_all_weights(VariableStore& store, const CheckpointContent& content, const std::string& source);

}  // namespace tpack
