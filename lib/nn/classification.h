#pragma once

#include <string>

#include "graph/builder.h"
#include "graph/statistic.h"
#include "graph/tower_function.h"

namespace tpack::nn {

/// Mean over the samples of the cross entropy of class numbers under the softmax of the logits.
/// Shapes: logits [N, C], labels integers [N] -> []. Errors: ShapeError for other shapes, and labels of
/// floats.
Symbol cross_entropy(Builder& b, Symbol logits, Symbol labels);

/// 1 for each sample whose label has the best score, else 0; a label that only ties for it is wrong.
/// Shapes: logits [N, C], labels integers [N] -> [N]. Errors: as cross_entropy.
Symbol hits(Builder& b, Symbol logits, Symbol labels);

/// The statistic of a cost, which is a mean over so many samples: what a TowerResult reports of it.
Statistic cost_statistic(Builder& b, Symbol cost, int64_t samples, const std::string& name = kCost);
/// The statistic that is the mean of all elements of `values`.
Statistic mean_statistic(Builder& b, const std::string& name, Symbol values);

}  // namespace tpack::nn
