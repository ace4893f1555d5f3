#include "weights/import_weights.h"

#include <filesystem>

#include "core/error.h"
#include "learner/learner.h"

namespace tpack {

ImportReport import_weights(const ImportJob& job, const std::string& out) {
  if (!out.empty() && std::filesystem::exists(out))
    throw ConfigError("'" + out + "' exists; name a new file");
  const WeightFile file = open_weight_file(job.file);
  Learner learner = Learner::from_config(job.config, job.overrides);
  VariableStore& store = learner.variables();
  NamedWeights named = named_weights(file, job.naming, job.rules, store.table());
  ImportReport report{named.map, load_weights(store, named.weights, job.rules)};
  const LoadReport& loaded = report.weights;
  if (loaded.loaded.empty() && loaded.mismatched.empty())
    throw ConfigError("no variable fits" + advice_on_names(file, job.rules, store.table()) + "\n" +
                      loaded.str(job.file));
  if (!loaded.mismatched.empty() && job.rules.on_mismatch == OnMismatch::kError)
    throw ConfigError(std::to_string(loaded.mismatched.size()) +
                      " variables have another shape; --skip-mismatched keeps the initial values of these\n" +
                      loaded.str(job.file));
  if (!out.empty()) learner.save(out);
  return report;
}

}  // namespace tpack
