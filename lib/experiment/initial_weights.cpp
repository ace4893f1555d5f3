#include "experiment/initial_weights.h"

#include <filesystem>
#include <set>

#include "core/text.h"
#include "graph/variable_pattern.h"
#include "learner/fill_from_data.h"
#include "predict/target_scale.h"
#include "system/log.h"
#include "weights/loadable.h"

namespace tpack {

void check_init(const InitSection& init) {
  Diagnostics errors;
  for (const InitSource& source : init.sources) {
    const std::string path = resolved_path(source.from);
    if (std::filesystem::is_regular_file(path)) continue;
    errors.add(source.from.position, std::filesystem::is_directory(path)
                                         ? "'from' of init: '" + path + "' is a folder; name a file in it"
                                         : "'from' of init: no such file '" + path + "'");
  }
  errors.throw_if_any();
}

namespace {

/// Frozen variables without a value in the files stay random.
void warn_of_frozen(const std::vector<Ref<VariablePattern>>& freeze, const VariableStore& store,
                    const std::set<std::string>& loaded) {
  std::vector<std::string> random;
  for (const std::string& name : store.names(VariableScope::kModel)) {
    if (!loaded.contains(name) && is_for_variable(freeze, name)) random.push_back(name);
  }
  if (random.empty()) return;
  log::warning("freeze: " + join_first(random) +
               " keep their random initial values, because init has no values for them; remove them from "
               "`freeze`, or fix `init`");
}

LoadReport load_source(const InitSource& source, const std::string& path, bool warns, VariableStore& store) {
  WeightsReport loaded = [&] {
    try {
      return load_weight_file(path, {source.map, source.part}, source.rules,
                              "`exclude: [LAYER]` leaves out a layer, such as one for other classes; "
                              "`on_mismatch: skip` keeps the "
                              "initial values of all of them",
                              store);
    } catch (const ConfigError& error) {
      throw ConfigError(source.from.position, std::string("init: ") + error.what());
    }
  }();
  if (source.map.empty() && loaded.map != "names")
    log::info("init: names of layers by the map " + loaded.map);
  for (const std::string& rule : loaded.weights.idle) {
    if (warns) log::warning(source.from.position.str() + ": init: " + rule);
  }
  return std::move(loaded.weights);
}

}  // namespace

std::string load_initial_weights(const Experiment& experiment, bool warns) {
  const std::vector<InitSource>& sources = experiment.config.init.sources;
  if (sources.empty()) return "";
  VariableStore* store = experiment.trainer->part<TrainedVariables>().variables();
  if (store == nullptr)
    throw ConfigError(sources[0].from.position, "init: this trainer has no variables to load");
  std::vector<LoadReport> reports;
  std::set<std::string> loaded;
  for (const InitSource& source : sources) {
    reports.push_back(load_source(source, resolved_path(source.from), warns, *store));
    loaded.insert(reports.back().loaded.begin(), reports.back().loaded.end());
  }
  if (warns) warn_of_frozen(experiment.config.freeze.all, *store, loaded);
  experiment.trainer->part<TrainedVariables>().share_variables();
  std::vector<std::string> texts;
  for (size_t i = 0; i < sources.size(); ++i) {
    std::erase_if(reports[i].missing, [&](const std::string& name) { return loaded.contains(name); });
    texts.push_back(reports[i].str(resolved_path(sources[i].from)));
  }
  return join(texts, "\n");
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
