#pragma once

#include <string>

#include "dataflow/data_flow.h"
#include "graph/tower_function.h"

namespace tpack {

/// Check that each softmax cross entropy of a tower has a score for every class of the labels that a flow
/// feeds to it: a label without a score makes the cost NaN, a whole epoch later. `graph` is the tower's, for
/// inference. The model has to follow data.train: if it has more scores than that has classes, a warning
/// is logged. `where` is what names another flow. Errors: ConfigError.
void check_classes_of_train(const Graph& graph, const TowerFunction& tower, const DataFlow& train);
void check_classes(const Graph& graph, const TowerFunction& tower, const DataFlow& flow,
                   const std::string& name, const Position& where);

/// The component of a flow whose classes the scores of a model are of: the labels of its softmax cross
/// entropies, or, if there is none, the first one with classes. Null if there is none, and where labels with
/// other classes have scores, too. `tower`: null for none. The flow must know its spec.
const ComponentSpec* label_component(const TowerFunction* tower, const DataFlow& flow);

}  // namespace tpack
