#include "callbacks/bad_tensor.h"

#include <algorithm>
#include <utility>

#include "core/text.h"
#include "predict/class_counts.h"
#include "tensor/finite.h"
#include "train/tower_outputs.h"

namespace tpack {
namespace {

/// The numbers that the model takes from its inputs.
std::vector<NumberedChoice> choices_of(Graph& graph, const TowerFunction& tower) {
  VariableTable table;
  Builder b(graph, table, {Phase::kInference, DType::kFloat32});
  build_tower(b, tower, batch_specs(tower, 1), {});
  return numbered_choices(graph, tower);
}

std::string called(const TowerInput& input) {
  return "input '" + input.name + "'" + (input.position.known() ? " (" + input.position.str() + ")" : "");
}

std::string of_tower(int64_t tower, const StepSize& size) {
  return size.towers > 1 ? " for the batch of tower " + std::to_string(tower) : "";
}

/// Nothing if all values of the input are finite and may be used as the model uses them.
std::optional<BadTensor> bad_values(const TowerInput& input, const Tensor& values,
                                    const NumberedChoice* choice, const std::string& where) {
  const std::string component = "component '" + input.component + "' of data.train";
  const std::string bad = bad_element(values);
  if (!bad.empty())
    return BadTensor{called(input) + " has " + bad + where,
                     "it is in " + component + ": remove or replace such values"};
  for (int64_t i = 0; choice != nullptr && i < values.elements(); ++i) {
    const double number = values.at(i);
    if (number >= 0 && number < static_cast<double>(choice->count)) continue;
    return BadTensor{called(input) + " has " + shortest(number) + " at " + place_of(i, values.shape()) +
                         where + ", but there are " + choice->str() + " (" + choice->node->path + ")",
                     component + " must be from 0 to " + std::to_string(choice->count - 1)};
  }
  return std::nullopt;
}

bool sees_all_batches(const StepSize& size) { return size.batches() == size.towers; }

/// "" if all are finite.
std::string bad_output(Run& run, const TowerPlace& place) {
  const StepSize size = run.step_size();
  TowerOutputs all(place, {{".*"}}, size.batch);
  for (int64_t tower = 0; tower < size.towers; ++tower) {
    const auto batch = run.last_batch(static_cast<size_t>(tower));
    if (!batch) continue;
    all.compute(*batch);
    for (size_t i = 0; i < all.outputs().size(); ++i) {
      const TowerOutputs::Output& output = all.outputs()[i];
      const std::string bad = bad_element(all.value(i));
      if (bad.empty()) continue;
      return "layer '" + output.name + "'" + (output.origin.known() ? " (" + output.origin.str() + ")" : "") +
             " has " + bad + of_tower(tower, size);
    }
  }
  return "";
}

/// The first one that backward has computed; "" if all are finite.
std::string bad_gradient(Run& run, const TowerPlace& place) {
  for (const ParameterGroup& group : place.table->groups()) {
    for (const std::string& name : group.variables) {
      const std::string bad = bad_element(run.variable(gradient_name(name)));
      if (!bad.empty()) return "the gradient of variable " + name + " has " + bad;
    }
  }
  return "";
}

}  // namespace

std::optional<BadTensor> bad_data(Run& run) {
  const StepSize size = run.step_size();
  Graph graph;
  std::vector<NumberedChoice> choices;
  for (int64_t tower = 0; tower < size.towers; ++tower) {
    const auto batch = run.last_batch(static_cast<size_t>(tower));
    if (!batch) continue;
    const TowerFunction& function = *run.tower_place().tower;
    if (graph.nodes().empty()) choices = choices_of(graph, function);
    for (size_t i = 0; i < function.inputs().size(); ++i) {
      const auto choice = std::find_if(choices.begin(), choices.end(), [&](const NumberedChoice& one) {
        return one.input == i && one.makes_nan;
      });
      auto bad = bad_values(function.inputs()[i], batch->inputs[i],
                            choice == choices.end() ? nullptr : &*choice, of_tower(tower, size));
      if (bad) return bad;
    }
  }
  return std::nullopt;
}

std::string unseen_data(Run& run) {
  if (sees_all_batches(run.step_size()) || !run.last_batch(0)) return "";
  Graph graph;
  if (choices_of(graph, *run.tower_place().tower).empty()) return "";
  return " (labels in another batch of the step that are not below the number of classes make it NaN)";
}

BadTensor first_bad_tensor(Run& run) {
  std::string bad = bad_variable(run);
  if (!bad.empty()) return {bad};
  if (auto data = bad_data(run)) return std::move(*data);
  const TowerPlace place = run.tower_place();
  bad = bad_output(run, place);
  if (!bad.empty()) return {bad};
  bad = bad_gradient(run, place);
  if (bad.empty()) return {"it comes from another batch than the last one of this process"};
  return {std::string("the outputs of all layers are finite for ") +
          (sees_all_batches(run.step_size())
               ? "all batches of the step, so the cost or its gradient is not"
               : "the last batches of this process; it comes from another batch of the step, or from the "
                 "cost or its gradient") +
          unseen_data(run) + "; " + bad};
}

}  // namespace tpack
