#include "train/callback.h"

#include <algorithm>

#include "graph/variable_pattern.h"

namespace tpack {
namespace {

using Specs = std::map<std::string, TensorSpec>;

Specs matching(const Specs& all, const std::vector<Ref<VariablePattern>>& patterns, const std::string& what) {
  std::vector<std::string> known;
  Specs found;
  for (const auto& [name, spec] : all) {
    known.push_back(name);
    if (is_for_variable(patterns, name)) found.emplace(name, spec);
  }
  Diagnostics errors;
  check_patterns(patterns, known, what, errors);
  errors.throw_if_any();
  return found;
}

const VariableTable& table_of(Trainer& trainer) {
  const auto place = trainer.model_handle();
  if (!place) throw ConfigError("this trainer has no model, so there are no variables to name");
  return *place->table;
}

}  // namespace

Schema<Callback::Common> Callback::common_schema() {
  return Schema<Common>("What every callback has.")
      .field("ranks", &Common::ranks,
             "the processes that it runs on: chief (rank 0), or all; default: docs/callbacks.md");
}

void Callback::take(const Common& common) {
  const char* why = why_ranks_are_fixed();
  if (common.ranks && why != nullptr && (*common.ranks == Ranks::kChief) != chief_only())
    throw ConfigError("'ranks' must be " + std::string(chief_only() ? "chief" : "all") + ": " + why);
  if (common.ranks) run_on(*common.ranks);
}

Specs Setup::variables() const {
  const VariableTable& table = table_of(trainer_);
  Specs all;
  for (const std::string& name : saved_names(table, VariableScope::kModel))
    all.emplace(name, table.find(name)->spec);
  return all;
}

Specs Setup::variables(const std::vector<Ref<VariablePattern>>& patterns) const {
  return patterns.empty() ? Specs() : matching(variables(), patterns, "variable");
}

Specs Setup::trained_variables(const std::vector<Ref<VariablePattern>>& patterns) const {
  if (patterns.empty()) return {};
  const VariableTable& table = table_of(trainer_);
  Specs trained;
  for (const ParameterGroup& group : table.groups()) {
    for (const std::string& name : group.variables) trained.emplace(name, table.find(name)->spec);
  }
  return matching(trained, patterns, "trained variable");
}

size_t Setup::statistic(const Ref<Stat>& name) const {
  std::vector<std::string> known;
  for (const StepStatistic& own : statistics()) known.push_back(own.name);
  const auto found = std::find(known.begin(), known.end(), name.name);
  if (found == known.end())
    throw unknown_reference("statistic of the training step", name.name, name.position, known);
  return static_cast<size_t>(found - known.begin());
}

}  // namespace tpack
