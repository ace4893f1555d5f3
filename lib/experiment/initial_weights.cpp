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

}  // namespace

std::string load_initial_weights(const Experiment& experiment, bool warns) {
  const InitSection& init = experiment.config.init;
  if (init.from.empty()) return "";
  const std::string path = resolved_path(init.from);
  VariableStore* store = experiment.trainer->part<TrainedVariables>().variables();
  if (store == nullptr) throw ConfigError(init.from.position, "init: this trainer has no variables to load");
  const WeightsReport loaded = [&] {
    try {
      return load_weight_file(path, {init.map, init.part}, init.rules, "`on_mismatch: skip`", *store);
    } catch (const ConfigError& error) {
      throw ConfigError(init.from.position, std::string("init: ") + error.what());
    }
  }();
  if (init.map.empty() && loaded.map != "names") log::info("init: names of layers by the map " + loaded.map);
  const LoadReport& report = loaded.weights;
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
