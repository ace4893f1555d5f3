#include "experiment/initial_weights.h"

#include <filesystem>

#include "core/log.h"

namespace tpack {

void check_init(const InitSection& init) {
  const std::string path = resolved_path(init.from);
  if (init.from.empty() || std::filesystem::is_regular_file(path)) return;
  throw ConfigError(init.from.position, "'from' of init: no such file '" + path + "'");
}

std::string load_initial_weights(const Experiment& experiment, bool warns) {
  const InitSection& init = experiment.config.init;
  if (init.from.empty()) return "";
  const std::string path = resolved_path(init.from);
  VariableStore* store = experiment.trainer->variables();
  if (store == nullptr) throw ConfigError(init.from.position, "init: this trainer has no variables to load");
  const LoadReport report = load_weights(*store, load_checkpoint(path), init.rules);
  if (report.loaded.empty())
    throw ConfigError(init.from.position, "init: no variable fits\n" + report.str(path));
  for (const std::string& rule : report.idle) {
    if (warns) log::warning(init.from.position.str() + ": init: " + rule);
  }
  experiment.trainer->share_variables();
  return report.str(path);
}

}  // namespace tpack
