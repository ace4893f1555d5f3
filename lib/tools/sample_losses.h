#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/tower_function.h"
#include "predict/evaluator.h"

namespace tpack {

/// What a model makes of one sample, whatever weights the term of the cost has.
struct JudgedSample {
  double loss = 0;  // of a class and of a yes or no the cross entropy, of numbers the mean squared difference
  int64_t actual = -1;  // class; -1 where it is not one of several
  int64_t predicted = -1;
  double confidence = 0;  // the probability that it gives to the predicted class
};

/// Row `row` of a batch; nothing for a sample whose target is ignored or is not a class. A loss of scores
/// that are not finite is infinite.
std::optional<JudgedSample> judged_sample(const JudgedBatch& batch, int64_t row);
/// "cross entropy" or "squared difference".
const char* loss_name(const Judgement& judgement);

}  // namespace tpack
