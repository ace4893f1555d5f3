#pragma once

#include <map>
#include <string>

#include "backend/device.h"
#include "experiment/experiment.h"

namespace tpack {

/// Identifies what takes the time of a training step: the hardware, the threads, the sizes of the step, the
/// network for this batch, and the variables with the optimizer's slots; not the precision, and no
/// hyper-parameter. Empty without a model. After Trainer::compile.
std::string step_digest(const Experiment& experiment);

/// Keeps measured seconds of a step by precision, with today's date, in a file of the cache folder. Without a
/// folder, or if the file cannot be written, nothing happens, because it is only a cache.
void save_precision_times(const std::string& cache_dir, const std::string& digest,
                          const std::map<Precision, double>& seconds);

/// What was measured before for the step of an experiment, if another precision was at least 10 % faster:
/// "bf16 was 1.60 times as fast as fp32 in `tpack bench --compare` (2026-11-28): --precision bf16".
/// Otherwise, or for a damaged file, empty. After Trainer::compile.
std::string faster_precision(const Experiment& experiment);

}  // namespace tpack
