#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dataflow/data_flow.h"
#include "graph/tower_function.h"

namespace tpack {

/// The number of the input of these values, whose shape or type may be different; empty for other symbols.
std::optional<size_t> input_of(const Symbol& fed, const TowerFunction& tower);

/// A place where a tower selects by a number from the data: a score by a label, a row of an embedding.
struct NumberedChoice {
  const Node* node = nullptr;
  size_t input = 0;                    // of the tower, with the numbers
  int64_t count = 0;                   // numbers must be below
  const char* what = "";               // there are that many of: "scores"
  bool makes_nan = true;               // of another number
  std::optional<double> ignored = {};  // the ignored number

  /// "3 scores".
  std::string str() const;
};
std::vector<NumberedChoice> numbered_choices(const Graph& graph, const TowerFunction& tower);

/// Numbers of the inputs of a tower that nodes check: `labels_of` returns the labels of such a node, and is
/// empty for other nodes.
std::vector<size_t> inputs_found(const Graph& graph, const TowerFunction& tower,
                                 std::optional<Symbol> (*labels_of)(const Node&));

/// Check that a tower has a score, an entry of an embedding or a place of OneHot for every class number from
/// a flow: a number without one makes the cost NaN, maybe a whole epoch later, or counts as no class. `graph`
/// is the tower's, for inference. For data.train, a warning is logged if the model has more scores than
/// classes. `where` is the reference to another flow. Errors: ConfigError.
void check_classes_of_train(const Graph& graph, const TowerFunction& tower, const DataFlow& train);
/// Checks that binary terms of the cost with one output have at most two classes. Errors: ConfigError.
void check_binary_classes(const std::vector<PredictionTarget>& targets, const TowerFunction& tower,
                          const DataFlow& train);
void check_classes(const Graph& graph, const TowerFunction& tower, const DataFlow& flow,
                   const std::string& name, const Position& where);

/// The class names of numbers or binary labels, from their component of the flow; empty without names.
std::vector<std::string> class_names(const Symbol& labels, const TowerFunction& tower, const DataFlow& flow);

/// The component of a flow with the names of the classes that a model predicts: the labels of its softmax
/// cross entropies, or, without these, the first component with classes. Null if no component has any, and if
/// two softmax cross entropies have labels with different classes. `tower`: null for none. The flow must know
/// its spec.
const ComponentSpec* label_component(const TowerFunction* tower, const DataFlow& flow);

}  // namespace tpack
