#include "weights/import_weights.h"

#include "learner/learner.h"
#include "system/file_io.h"

namespace tpack {

WeightsReport import_weights(const ImportJob& job, const std::string& out) {
  if (!out.empty()) require_absent(out);
  Learner learner = Learner::from_config(job.config, job.overrides);
  WeightsReport report = load_weight_file(
      job.file, job.naming, job.rules, "--skip-mismatched keeps their initial values", learner.variables());
  if (!out.empty()) learner.save(out);
  return report;
}

}  // namespace tpack
