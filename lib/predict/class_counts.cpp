#include "predict/class_counts.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "core/text.h"
#include "graph/pointwise.h"
#include "graph/structural.h"
#include "graph/tower_description.h"
#include "ops/gather.h"
#include "ops/one_hot.h"
#include "ops/softmax_cross_entropy.h"
#include "system/log.h"

namespace tpack {
namespace {

/// The function of a node that computes one; nothing for others.
std::optional<pointwise::Instruction> function_of(const Node& node) {
  const auto* pointwise = op_cast<pointwise::Pointwise>(node);
  return pointwise == nullptr ? std::nullopt : std::optional(pointwise->expression().code.back());
}

/// Numbers with one value replaced, as `ignore_label` does.
struct WithoutOne {
  Symbol numbers;
  double replaced = 0;
};
std::optional<WithoutOne> without_one(const Node& node) {
  const auto select = function_of(node);
  if (!select || select->fn != pointwise::Fn::kSelect || node.inputs.size() != 2) return std::nullopt;
  const Node& condition = *node.inputs[0].node;
  const auto equal = function_of(condition);
  if (!equal || equal->fn != pointwise::Fn::kEqual || condition.inputs.size() != 1 ||
      !(condition.inputs[0] == node.inputs[1]))
    return std::nullopt;
  for (const pointwise::Instruction& one : op_cast<pointwise::Pointwise>(condition)->expression().code)
    if (one.fn == pointwise::Fn::kConstant) return WithoutOne{node.inputs[1], one.value};
  return std::nullopt;
}

/// The origin of numbers, before nodes that only change their shape or integer type.
struct FedNumbers {
  Symbol numbers;
  std::optional<double> ignored;
};
FedNumbers behind_forms(Symbol at) {
  std::optional<double> ignored;
  while (true) {
    const auto* cast = op_cast<pointwise::Pointwise>(*at.node);
    const bool is_cast = cast != nullptr && cast->expression().code.size() == 1;  // the input alone
    if (is_cast || op_cast<Reshape>(*at.node) != nullptr) {
      at = at.node->inputs[0];
    } else if (const auto replaced = without_one(*at.node)) {
      ignored = replaced->replaced;
      at = replaced->numbers;
    } else {
      return {at, ignored};
    }
  }
}

}  // namespace

std::optional<size_t> input_of(const Symbol& fed, const TowerFunction& tower) {
  const auto* input = op_cast<Input>(*behind_forms(fed).numbers.node);
  if (input == nullptr) return std::nullopt;
  const auto& known = tower.inputs();
  const auto at = std::find_if(known.begin(), known.end(),
                               [&](const TowerInput& one) { return one.name == input->params().name; });
  return at == known.end() ? std::nullopt : std::optional(static_cast<size_t>(at - known.begin()));
}

namespace {

/// The component of a flow for an input; null if it does not have one.
const ComponentSpec* component_of(const TowerInput& input, const DataFlow& flow) {
  const auto component = flow.spec().find(input.component);
  return component ? &flow.spec()[*component] : nullptr;
}

/// The use of numbers in a node, and their origin; empty for other nodes.
std::optional<std::pair<NumberedChoice, Symbol>> choice_of(const Node& node) {
  NumberedChoice choice{.node = &node};
  if (op_cast<SoftmaxCrossEntropy>(node) != nullptr) {
    choice.count = node.inputs[0].shape()[1];
    choice.what = "scores";
  } else if (op_cast<Gather>(node) != nullptr &&
             op_cast<Read>(*behind_forms(node.inputs[0]).numbers.node) != nullptr) {
    choice.count = node.inputs[0].shape()[0];
    choice.what = "entries";
  } else if (const auto* one_hot = op_cast<OneHot>(node)) {
    choice.count = one_hot->params().classes;
    choice.what = "classes of OneHot";
    choice.makes_nan = false;
    return std::pair(choice, node.inputs[0]);
  } else {
    return std::nullopt;
  }
  return std::pair(choice, node.inputs[1]);
}

/// Advice to change a model for this number of classes.
std::string fix_of(const NumberedChoice& choice, size_t classes) {
  if (classes == 1) return "with only one class there is nothing to learn; check the labels";
  const std::string count = std::to_string(classes);
  const bool is_of_cost = choice.node->path.starts_with("cost/");  // the number of classes of the logits
  if (op_cast<SoftmaxCrossEntropy>(*choice.node) != nullptr || is_of_cost)
    return "set units: " + count + " in the layer of the logits";
  return (op_cast<OneHot>(*choice.node) != nullptr ? "set classes: " : "set entries: ") + count;
}

struct ClassCounts {
  NumberedChoice choice;             // of the model
  std::vector<std::string> classes;  // of the data
};

/// Where the two are not the same.
std::vector<ClassCounts> different_counts(const Graph& graph, const TowerFunction& tower,
                                          const DataFlow& flow) {
  std::vector<ClassCounts> all;
  std::set<std::string> seen;  // a term that the graph has twice, for the cost and for each sample, is one
  for (const NumberedChoice& choice : numbered_choices(graph, tower)) {
    const std::string place = choice.node->origin.str() + choice.what + std::to_string(choice.input);
    if (!choice.node->origin.str().empty() && !seen.insert(place).second) continue;
    const ComponentSpec* labels = component_of(tower.inputs()[choice.input], flow);
    if (labels != nullptr && !labels->classes.empty() && std::ssize(labels->classes) != choice.count)
      all.push_back({choice, labels->classes});
  }
  return all;
}

std::string described(const std::string& which, const ClassCounts& counts) {
  return counts.choice.node->path + ": " + which + " has " + std::to_string(counts.classes.size()) +
         (counts.classes.size() == 1 ? " class (" : " classes (") + join_first(counts.classes) +
         "), but there are " + counts.choice.str() + "; ";
}

}  // namespace

std::string NumberedChoice::str() const { return std::to_string(count) + " " + what; }

std::vector<NumberedChoice> numbered_choices(const Graph& graph, const TowerFunction& tower) {
  std::vector<NumberedChoice> all;
  for (const auto& node : graph.nodes()) {
    auto found = choice_of(*node);
    const auto input = found ? input_of(found->second, tower) : std::nullopt;
    if (!input) continue;
    found->first.input = *input;
    found->first.ignored = behind_forms(found->second).ignored;
    all.push_back(found->first);
  }
  return all;
}

std::vector<size_t> inputs_found(const Graph& graph, const TowerFunction& tower,
                                 std::optional<Symbol> (*labels_of)(const Node&)) {
  std::vector<size_t> all;
  for (const auto& node : graph.nodes()) {
    const auto labels = labels_of(*node);
    const auto input = labels ? input_of(*labels, tower) : std::nullopt;
    if (input) all.push_back(*input);
  }
  return all;
}

void check_classes_of_train(const Graph& graph, const TowerFunction& tower, const DataFlow& train) {
  Diagnostics errors;
  for (const ClassCounts& counts : different_counts(graph, tower, train)) {
    const Node& node = *counts.choice.node;
    const std::string what = described("data.train", counts) + fix_of(counts.choice, counts.classes.size());
    if (std::ssize(counts.classes) > counts.choice.count) {
      errors.add(node.origin, what);
    } else if (op_cast<SoftmaxCrossEntropy>(node) != nullptr) {
      log::warning(Problem{node.origin, what}.str());
    }
  }
  errors.throw_if_any();
}

void check_classes(const Graph& graph, const TowerFunction& tower, const DataFlow& flow,
                   const std::string& name, const Position& where) {
  for (const ClassCounts& counts : different_counts(graph, tower, flow)) {
    if (std::ssize(counts.classes) > counts.choice.count) {
      throw ConfigError(where, described("flow '" + name + "'", counts) +
                                   "remove the classes that data.train does not have");
    }
  }
}

std::vector<std::string> class_names(const Symbol& labels, const TowerFunction& tower, const DataFlow& flow) {
  const auto input = input_of(labels, tower);
  const ComponentSpec* component = input ? component_of(tower.inputs()[*input], flow) : nullptr;
  return component == nullptr ? std::vector<std::string>() : component->classes;
}

void check_binary_classes(const std::vector<PredictionTarget>& targets, const TowerFunction& tower,
                          const DataFlow& train) {
  Diagnostics errors;
  for (const PredictionTarget& one : targets) {
    const Shape& shape = one.predictions.shape();
    if (!one.has_logits() || shape.elements() != shape[0]) continue;
    const std::vector<std::string> classes = class_names(one.targets, tower, train);
    if (classes.size() <= 2) continue;
    const std::string count = std::to_string(classes.size());
    errors.add(one.predictions.node->origin,
               one.term + ": data.train has " + count + " classes (" + join_first(classes) +
                   "), but one output can only distinguish two; use the same name for equal classes in the "
                   "data, or use SoftmaxCrossEntropy and set units: " +
                   count + " in the layer of the logits");
  }
  errors.throw_if_any();
}

const ComponentSpec* label_component(const TowerFunction* tower, const DataFlow& flow) {
  std::vector<const ComponentSpec*> named;
  for (const ComponentSpec& component : flow.spec()) {
    if (!component.classes.empty()) named.push_back(&component);
  }
  if (named.empty()) return nullptr;
  if (named.size() == 1 || tower == nullptr) return named[0];
  const ComponentSpec* of_costs = nullptr;
  for (const NumberedChoice& choice : numbered_choices(tower->description().graph(), *tower)) {
    if (op_cast<SoftmaxCrossEntropy>(*choice.node) == nullptr) continue;
    const ComponentSpec* labels = component_of(tower->inputs()[choice.input], flow);
    if (labels == nullptr || labels->classes.empty()) continue;
    if (of_costs != nullptr && labels->classes != of_costs->classes) return nullptr;
    of_costs = labels;
  }
  return of_costs != nullptr ? of_costs : named[0];
}

}  // namespace tpack
