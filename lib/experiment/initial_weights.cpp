#include "experiment/initial_weights.h"

#include <algorithm>
#include <filesystem>

#include "core/text.h"
#include "graph/variable_pattern.h"
#include "learner/fill_from_data.h"
#include "predict/target_scale.h"
#include "system/log.h"
#include "weights/loadable.h"

namespace tpack {

void check_init(const InitSection& init) {
  const std::string path = resolved_path(init.from);
  if (init.from.empty() || std::filesystem::is_regular_file(path)) return;
  throw ConfigError(init.from.position, "'from' of init: no such file '" + path + "'");
}

namespace {

/// Frozen variables without a value in the file stay random.
void warn_of_frozen(const std::vector<Ref<VariablePattern>>& freeze, const VariableStore& store,
                    const LoadReport& report) {
  std::vector<std::string> random;
  for (const std::string& name : store.names(VariableScope::kModel)) {
    const bool is_loaded = std::find(report.loaded.begin(), report.loaded.end(), name) != report.loaded.end();
    if (!is_loaded && is_for_variable(freeze, name)) random.push_back(name);
  }
  if (random.empty()) return;
  log::warning("freeze: " + join_first(random) +
               " keep their random initial values, because init has no values for them; remove them from "
               "`freeze`, or fix `init`");
}

LoadReport loaded_from(const std::string& path, const InitSection& init, VariableStore& store) {
  const WeightFile file = open_weight_file(path);
  const NamedWeights named = named_weights(file, {init.map, init.part}, init.rules, store.table());
  if (init.map.empty() && named.map != "names") log::info("init: names of layers by the map " + named.map);
  LoadReport report = load_weights(store, named.weights, init.rules);
  if (report.loaded.empty() && report.mismatched.empty())
    throw ConfigError("init: no variable fits" + advice_on_names(file, init.rules, store.table()) + "\n" +
                      report.str(path));
  if (!report.mismatched.empty() && init.rules.on_mismatch == OnMismatch::kError)
    throw ConfigError("init: " + std::to_string(report.mismatched.size()) +
                      " variables of another shape; `on_mismatch: skip` keeps their initial values\n" +
                      report.str(path));
  return report;
}

}  // namespace

std::string load_initial_weights(const Experiment& experiment, bool warns) {
  const InitSection& init = experiment.config.init;
  if (init.from.empty()) return "";
  const std::string path = resolved_path(init.from);
  VariableStore* store = experiment.trainer->part<TrainedVariables>().variables();
  if (store == nullptr) throw ConfigError(init.from.position, "init: this trainer has no variables to load");
  const LoadReport report = [&] {
    try {
      return loaded_from(path, init, *store);
    } catch (const ConfigError& error) {
      throw ConfigError(init.from.position, error.what());
    }
  }();
  for (const std::string& rule : report.idle) {
    if (warns) log::warning(init.from.position.str() + ": init: " + rule);
  }
  if (warns) warn_of_frozen(experiment.config.freeze.all, *store, report);
  experiment.trainer->part<TrainedVariables>().share_variables();
  return report.str(path);
}

void take_values_from_data(const Experiment& experiment, bool has_new_weights) {
  auto& variables = experiment.trainer->part<TrainedVariables>();
  VariableStore* store = variables.variables();
  if (store != nullptr && fill_from_data(experiment, *store)) variables.share_variables();
  const auto model = experiment.trainer->part<TrainedModel>().model_handle();
  const DataFlow* train = experiment.train_flow();
  if (has_new_weights && model && train != nullptr) warn_of_far_targets(*model->tower, *train);
}

}  // namespace tpack
