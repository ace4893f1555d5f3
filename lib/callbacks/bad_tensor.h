#pragma once

#include <optional>
#include <string>

#include "callbacks/numerics.h"
#include "predict/bad_input.h"
#include "train/run.h"

namespace tpack {

struct BadTensor {
  std::string what;  // "layer 'conv1' (a.yaml:12:5) has nan at [3, 0, 1, 5]"
  std::string fix = kCalmerSteps;
};

/// The input of the last step that makes a cost NaN: one with a value that is NaN or infinite, or with a
/// number that is too large for the model. Empty if there is none in the known batches of this process.
std::optional<BadInput> bad_data(Run& run);
/// Another possible reason for a NaN cost: labels in batches of the step that are no longer known; "" if all
/// are known, or labels cannot be the reason.
std::string unseen_data(Run& run);

/// After a step that skipped an update: the first tensor that is NaN or infinite, in the order variables,
/// inputs, outputs of layers as computed, gradients. Checks the batches of this process.
BadTensor first_bad_tensor(Run& run);

}  // namespace tpack
