#pragma once

#include <cstdint>
#include <optional>

#include "predict/evaluator.h"

namespace tpack {

/// The results of a model for one sample.
struct ComparedSample {
  double loss = 0;         // of the term of the cost, the mean over its elements
  int64_t actual = -1;     // class; -1 if it is not one of several
  int64_t predicted = -1;  // also -1 if the scores are not finite
  double confidence = 0;   // the probability of the predicted class
};

/// Row `row` of a batch; nothing for a sample whose target is ignored or is not a class. A loss that is not
/// finite is infinite.
std::optional<ComparedSample> compared_sample(const TargetBatch& batch, int64_t row);

}  // namespace tpack
