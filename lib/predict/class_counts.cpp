#include "predict/class_counts.h"

#include <iterator>

#include "core/log.h"
#include "core/text.h"
#include "graph/structural.h"
#include "ops/softmax_cross_entropy.h"

namespace tpack {
namespace {

/// The component of a flow that an input is fed; null for other symbols.
const ComponentSpec* component_of(const Symbol& fed, const TowerFunction& tower, const DataFlow& flow) {
  const auto* input = op_cast<Input>(*fed.node);
  if (input == nullptr) return nullptr;
  for (const TowerInput& known : tower.inputs()) {
    if (known.name != input->params().name) continue;
    const auto component = flow.spec().find(known.component);
    return component ? &flow.spec()[*component] : nullptr;
  }
  return nullptr;
}

struct ClassCounts {
  const Node* cost = nullptr;
  std::vector<std::string> classes;  // of the data
  int64_t scores = 0;                // of the model
};

/// Where the two are not the same.
std::vector<ClassCounts> different_counts(const Graph& graph, const TowerFunction& tower,
                                          const DataFlow& flow) {
  std::vector<ClassCounts> all;
  for (const auto& node : graph.nodes()) {
    if (op_cast<SoftmaxCrossEntropy>(*node) == nullptr) continue;
    const int64_t scores = node->inputs[0].shape()[1];
    const ComponentSpec* labels = component_of(node->inputs[1], tower, flow);
    if (labels != nullptr && !labels->classes.empty() && std::ssize(labels->classes) != scores)
      all.push_back({node.get(), labels->classes, scores});
  }
  return all;
}

std::string described(const std::string& which, const ClassCounts& counts) {
  return counts.cost->path + ": " + which + " has " + std::to_string(counts.classes.size()) + " classes (" +
         join_first(counts.classes) + "), but there are " + std::to_string(counts.scores) + " scores; ";
}

}  // namespace

void check_classes_of_train(const Graph& graph, const TowerFunction& tower, const DataFlow& train) {
  Diagnostics errors;
  for (const ClassCounts& counts : different_counts(graph, tower, train)) {
    const std::string what = described("data.train", counts) + "give the layer of the logits " +
                             std::to_string(counts.classes.size()) + " units";
    if (std::ssize(counts.classes) > counts.scores) {
      errors.add(counts.cost->origin, what);
    } else {
      log::warning(Problem{counts.cost->origin, what}.str());
    }
  }
  errors.throw_if_any();
}

void check_classes(const Graph& graph, const TowerFunction& tower, const DataFlow& flow,
                   const std::string& name, const Position& where) {
  for (const ClassCounts& counts : different_counts(graph, tower, flow)) {
    if (std::ssize(counts.classes) > counts.scores) {
      throw ConfigError(where, described("flow '" + name + "'", counts) +
                                   "remove the classes that data.train does not have");
    }
  }
}

const ComponentSpec* label_component(const TowerFunction* tower, const DataFlow& flow) {
  std::vector<const ComponentSpec*> named;
  for (const ComponentSpec& component : flow.spec()) {
    if (!component.classes.empty()) named.push_back(&component);
  }
  if (named.empty()) return nullptr;
  if (named.size() == 1 || tower == nullptr) return named[0];
  Graph graph;
  VariableTable table;
  Builder b(graph, table, {Phase::kInference, DType::kFloat32});
  build_tower(b, *tower, batch_specs(*tower, 1), {});
  const ComponentSpec* of_costs = nullptr;
  for (const auto& node : graph.nodes()) {
    if (op_cast<SoftmaxCrossEntropy>(*node) == nullptr) continue;
    const ComponentSpec* labels = component_of(node->inputs[1], *tower, flow);
    if (labels == nullptr || labels->classes.empty()) continue;
    if (of_costs != nullptr && labels->classes != of_costs->classes) return nullptr;
    of_costs = labels;
  }
  return of_costs != nullptr ? of_costs : named[0];
}

}  // namespace tpack
