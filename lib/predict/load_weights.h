#pragma once

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "backend/variable_store.h"
#include "checkpoint/checkpoint.h"
#include "core/config_node.h"
#include "core/field.h"

namespace tpack {

/// What happens to a variable that has another shape in the file.
enum class OnMismatch : uint8_t { kError, kSkip };
template <>
struct EnumNames<OnMismatch> {
  static constexpr std::array<std::pair<const char*, OnMismatch>, 2> kNames = {
      {{"error", OnMismatch::kError}, {"skip", OnMismatch::kSkip}}};
};

/// Which variables of a file are loaded, and under which names: the fields of `init` except `from`. Patterns
/// as in is_for_variable.
struct LoadRules {
  std::vector<std::string> include = {".*"};  // names in the model, after renaming
  std::vector<std::string> exclude = {};
  /// In order; the first pattern that matches a name of the file, or a prefix of it, determines the
  /// replacement ("$1" is a group).
  std::vector<std::pair<std::string, std::string>> rename = {};
  OnMismatch on_mismatch = OnMismatch::kError;  // kError: callers that read a config throw
};

/// The name after the first rule whose pattern matches it or a prefix of its path.
std::string renamed_by(const std::vector<std::pair<std::string, std::string>>& rules,
                       const std::string& name);

/// A value of a file that may become that of a variable.
struct LoadableWeight {
  std::vector<std::string> names;  // of variables that it may be, the likeliest first
  std::string from = {};           // its name in the file, if that is not names[0]
  /// Type and shape of the value as this variable, whose layout may differ from that of the file.
  std::function<TensorSpec(const VariableSpec& as)> spec;
  std::function<Tensor(const VariableSpec& as)> read;
};
/// The variables of the model in a checkpoint, which must outlive the result.
std::vector<LoadableWeight> loadable_weights(const CheckpointContent& content);

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

/// Copies values into the model's variables (scope `model`) by name; float types are converted, shapes must
/// be equal. Other variables keep their values and are in the report. Errors: ConfigError for a pattern that
/// is not a regular expression, and for two values that get the same name; those of `read`.
LoadReport load_weights(VariableStore& store, const std::vector<LoadableWeight>& weights,
                        const LoadRules& rules = {});
inline LoadReport load_weights(VariableStore& store, const CheckpointContent& content,
                               const LoadRules& rules = {}) {
  return load_weights(store, loadable_weights(content), rules);
}

/// Errors: CheckpointError with `source` if any variable of the model is missing or mismatched. Call before
/// the variables are allocated: the config of a checkpoint may declare any size.
void require_all_weights(const VariableTable& model, const CheckpointContent& content,
                         const std::string& source);
/// As load_weights, for running a trained model. Errors: as require_all_weights.
void load_all_weights(VariableStore& store, const CheckpointContent& content, const std::string& source);

}  // namespace tpack
