#pragma once

#include <optional>

#include "experiment/experiment.h"

namespace tpack {

/// Replaces a data.train whose source must be opened to be known: a flow with the declared inputs of the
/// model, in batches of the same size. Nothing if the declarations are incomplete: there is no model, an
/// input has an unknown size or no batch axis, or data.train has no BatchData.
std::optional<DataFlow> declared_train_flow(const Experiment& experiment);

}  // namespace tpack
