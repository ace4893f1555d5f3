#pragma once

#include <string>

#include "train/run.h"

namespace tpack {

/// After a step that skipped an update: which tensor is the first one that is NaN or infinite, in the order
/// variables, inputs, outputs of layers as they are computed, gradients. "layer 'conv1' (a.yaml:12:5) has nan
/// at [3, 0, 1, 5]". Looks at the batches of this process.
std::string first_bad_tensor(Run& run);

}  // namespace tpack
