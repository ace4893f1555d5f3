#pragma once

#include <string>

#include "graph/builder.h"
#include "graph/statistic.h"
#include "graph/tower_function.h"

namespace tpack::nn {

/// Mean over the samples of the cross entropy of class numbers under the softmax of the logits. Shapes:
/// logits [N, C], labels integers [N] -> []. Errors: ShapeError for other shapes, and float labels.
Symbol cross_entropy(Builder& b, Symbol logits, Symbol labels);

/// 1 for each sample whose label has the best score, else 0; a label that only ties for it is wrong.
/// Shapes: logits [N, C], labels integers [N] -> [N]. Errors: as cross_entropy.
Symbol hits(Builder& b, Symbol logits, Symbol labels);

/// The statistic of a cost that is a mean over `samples` samples, for TowerResult.
Statistic cost_statistic(Builder& b, Symbol cost, int64_t samples, const std::string& name = kCost);
/// The mean of all elements of `values` as a statistic.
Statistic mean_statistic(Builder& b, const std::string& name, Symbol values);

}  // namespace tpack::nn
