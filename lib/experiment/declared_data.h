#pragma once

#include <optional>

#include "experiment/experiment.h"

namespace tpack {

/// In place of data.train, whose source must be opened to be known: a flow of what the inputs of the model
/// declare, in batches of the same size. Nothing if these do not tell all: there is no model, an input has an
/// unknown size or no batch axis, or the list of data.train has no BatchData.
std::optional<DataFlow> declared_train_flow(const Experiment& experiment);

}  // namespace tpack
