#include "weights/import_weights.h"

#include <filesystem>

#include "core/error.h"
#include "learner/learner.h"

namespace tpack {

WeightsReport import_weights(const ImportJob& job, const std::string& out) {
  if (!out.empty() && std::filesystem::exists(out))
    throw ConfigError("'" + out + "' exists; name a new file");
  Learner learner = Learner::from_config(job.config, job.overrides);
  WeightsReport report = load_weight_file(
      job.file, job.naming, job.rules, "--skip-mismatched keeps their initial values", learner.variables());
  if (!out.empty()) learner.save(out);
  return report;
}

}  // namespace tpack
