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

/// What the last step was fed that makes a cost NaN: an input with a value that is NaN or infinite, or with a
/// number that is too large for what the model has. Nothing if there is none in the batches of this process
/// that are still known.
std::optional<BadInput> bad_data(Run& run);
/// What else may have made a cost NaN: labels in batches of the step that are not known any more; "" if all
/// are, or none can be.
std::string unseen_data(Run& run);

/// After a step that skipped an update: which tensor is the first one that is NaN or infinite, in the order
/// variables, inputs, outputs of layers as they are computed, gradients. Looks
/// at the batches of this process.
BadTensor first_bad_tensor(Run& run);

}  // namespace tpack
