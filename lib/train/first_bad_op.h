#pragma once

#include <optional>
#include <string>

#include "backend/model_handle.h"
#include "train/trainer.h"

namespace tpack {

/// A function that gave NaN or infinity for a finite number.
struct BadOp {
  std::string what;  // "log of a negative number (-0.25)"
  std::string fix;
};

/// The first one inside of a layer, for the batch of a tower and the variables as they are: what makes the
/// output of that layer bad although its inputs are finite. Nothing if it is none of the functions that are
/// defined for some numbers only (logarithms, roots, quotients, exponentials). Compiles a program of its own;
/// for messages.
std::optional<BadOp> first_bad_op(const ModelHandle& place, const TowerBatch& batch,
                                  const std::string& layer);

}  // namespace tpack
