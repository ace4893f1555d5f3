#pragma once

#include <vector>

#include "train/callback_list.h"
#include "train/run.h"
#include "train/trainer.h"

namespace tpack {

/// Adds the callback for schedules of the trainer, calls `setup` of each callback, in order, and removes
/// those that do not run in this process. Returns the scalars that they will report. Errors: ConfigError with
/// the errors of all.
StatisticGoals set_up_callbacks(std::vector<NamedCallback>& callbacks, Trainer& trainer, Run& run);

/// Rethrows the current exception. An exception that is not tpack's gets the name of the callback and keeps
/// its exit code.
[[noreturn]] void rethrow_for(const NamedCallback& named);

}  // namespace tpack
