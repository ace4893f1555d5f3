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

/// The component of a flow that has the names of the classes that a model tells apart: the labels of its
/// softmax cross entropies, or, without these, the first component with classes. Null if no component has
/// any, and if two softmax cross entropies have labels with different classes. `tower`: null for none. The
/// flow must know its spec.
const ComponentSpec* label_component(const TowerFunction* tower, const DataFlow& flow);

}  // namespace tpack
