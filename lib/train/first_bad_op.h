#pragma once

#include <optional>
#include <string>

#include "backend/model_handle.h"
#include "train/trainer.h"

namespace tpack {

/// A function that returned NaN or infinity for a finite number.
struct BadOp {
  std::string what;  // "log of a negative number (-0.25)"
  std::string fix;
};

/// The first one in a layer, for the batch of a tower and the current variables: the reason why the output of
/// the layer is not finite although its inputs are. Empty if it is not a function with a limited domain or
/// range (logarithms, roots, quotients, exponentials). Compiles a separate program; for messages.
std::optional<BadOp> first_bad_op(const ModelHandle& model, const TowerBatch& batch,
                                  const std::string& layer);

}  // namespace tpack
