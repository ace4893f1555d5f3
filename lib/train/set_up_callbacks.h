#pragma once

#include <vector>

#include "train/callback_list.h"
#include "train/run.h"
#include "train/trainer.h"

namespace tpack {

/// Calls `setup` of each callback, in order, after adding what follows the schedules of the trainer, and
/// takes those away that do not run on this process. Returns the scalars that they will give. Errors:
/// ConfigError with the mistakes of all.
StatisticGoals set_up_callbacks(std::vector<NamedCallback>& callbacks, Trainer& trainer, Run& run);

/// Throws the exception that is being handled. One that is not tpack's gets the name of the callback and
/// keeps its exit code.
[[noreturn]] void rethrow_for(const NamedCallback& named);

}  // namespace tpack
