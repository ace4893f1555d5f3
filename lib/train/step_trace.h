#pragma once

#include <cstdint>
#include <string>

#include "train/trainer_parts.h"

namespace tpack {

/// Measures each kernel of the first tower in one step, from its construction to `finish`. If a program runs
/// several times in the step (accumulate), it shows the last run.
class StepTrace {
 public:
  StepTrace(const StepPrograms& programs, const StepData& data);
  /// The step as JSON, for Perfetto or chrome://tracing. Source: the document "Trace Event Format" of the
  /// Chromium project.
  std::string finish(int64_t step);

 private:
  const StepPrograms& programs_;
  const StepData& data_;
  double waited_s_;
  double start_s_;
};

}  // namespace tpack
