#include "callbacks/bad_tensor.h"

#include <set>

#include "callbacks/numerics.h"
#include "train/tower_outputs.h"

namespace tpack {
namespace {

std::string quoted(const TowerOutputs::Output& output, const std::set<std::string>& inputs) {
  return (inputs.contains(output.name) ? "input '" : "layer '") + output.name + "'" +
         (output.origin.known() ? " (" + output.origin.str() + ")" : "");
}

/// "" if all are finite.
std::string bad_output(Run& run, const TowerPlace& place) {
  std::set<std::string> inputs;
  for (const TowerInput& input : place.tower->inputs()) inputs.insert(input.name);
  const StepSize size = run.step_size();
  TowerOutputs all(place, {{".*"}}, size.batch);
  for (int64_t tower = 0; tower < size.towers; ++tower) {
    const auto batch = run.last_batch(static_cast<size_t>(tower));
    if (!batch) continue;
    all.compute(*batch);
    for (size_t i = 0; i < all.outputs().size(); ++i) {
      const std::string bad = bad_element(all.value(i));
      if (bad.empty()) continue;
      return quoted(all.outputs()[i], inputs) + " has " + bad +
             (size.towers > 1 ? " for the batch of tower " + std::to_string(tower) : "");
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

std::string first_bad_tensor(Run& run) {
  std::string bad = bad_variable(run);
  if (!bad.empty()) return bad;
  const TowerPlace place = run.tower_place();
  bad = bad_output(run, place);
  if (!bad.empty()) return bad;
  bad = bad_gradient(run, place);
  if (bad.empty()) return "it comes from another batch than the last one of this process";
  const StepSize size = run.step_size();
  const bool sees_all = size.batches() == size.towers;
  return std::string("the outputs of all layers are finite for ") +
         (sees_all ? "all batches of the step, so the cost or its gradient is not"
                   : "the last batches of this process; it comes from another batch of the step, or from the "
                     "cost or its gradient") +
         " (labels that are not below the number of classes make it NaN); " + bad;
}

}  // namespace tpack
