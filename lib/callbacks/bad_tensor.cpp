#include "callbacks/bad_tensor.h"

#include "tensor/finite.h"
#include "train/first_bad_op.h"
#include "train/tower_outputs.h"

namespace tpack {
namespace {

std::string of_tower(int64_t tower, const StepSize& size) {
  return size.towers > 1 ? " for the batch of tower " + std::to_string(tower) : "";
}

bool sees_all_batches(const StepSize& size) { return size.batches() == size.towers; }

/// Empty if all are finite.
std::optional<BadTensor> bad_output(Run& run, const ModelHandle& model) {
  const StepSize size = run.part<StepData>().step_size();
  TowerOutputs all(model, {{".*"}}, size.batch);
  for (int64_t tower = 0; tower < size.towers; ++tower) {
    const auto batch = run.part<StepData>().last_batch(static_cast<size_t>(tower));
    if (!batch) continue;
    all.compute(*batch);
    for (size_t i = 0; i < all.outputs().size(); ++i) {
      const TowerOutputs::Output& output = all.outputs()[i];
      const std::string bad = bad_element(all.value(i));
      if (bad.empty()) continue;
      BadTensor found{"layer '" + output.name + "'" +
                      (output.origin.known() ? " (" + output.origin.str() + ")" : "") + " has " + bad +
                      of_tower(tower, size)};
      if (const auto op = first_bad_op(model, *batch, output.name)) {
        found.what += ", from " + op->what;
        found.fix = op->fix;
      }
      return found;
    }
  }
  return std::nullopt;
}

/// The first one in the order of backward; "" if all are finite.
std::string bad_gradient(Run& run, const ModelHandle& model) {
  for (const ParameterGroup& group : model.table->groups()) {
    for (const std::string& name : group.variables) {
      const std::string bad = bad_element(run.store().value(gradient_name(name)));
      if (!bad.empty()) return "the gradient of variable " + name + " has " + bad;
    }
  }
  return "";
}

}  // namespace

std::optional<BadInput> bad_data(Run& run) {
  const StepSize size = run.part<StepData>().step_size();
  if (!run.part<StepData>().last_batch(0)) return std::nullopt;
  BadInputFinder finder(*run.model_handle().tower, "train");
  for (int64_t tower = 0; tower < size.towers; ++tower) {
    const auto batch = run.part<StepData>().last_batch(static_cast<size_t>(tower));
    if (!batch) continue;
    if (auto bad = finder.find(batch->inputs, of_tower(tower, size))) return bad;
  }
  return std::nullopt;
}

std::string unseen_data(Run& run) {
  if (sees_all_batches(run.part<StepData>().step_size()) || !run.part<StepData>().last_batch(0)) return "";
  if (!BadInputFinder(*run.model_handle().tower, "train").has_choices()) return "";
  return " (labels in another batch of the step that are not below the number of classes would make it NaN)";
}

BadTensor first_bad_tensor(Run& run) {
  std::string bad = bad_variable(run);
  if (!bad.empty()) return {bad};
  if (const auto data = bad_data(run)) return {data->what, data->fix};
  const ModelHandle model = run.model_handle();
  if (auto output = bad_output(run, model)) return *output;
  bad = bad_gradient(run, model);
  if (bad.empty()) {
    return {run.part<StepData>().last_batch(0)
                ? "it comes from another batch than the last one of this process"
                : "the batch that it comes from is no longer known"};
  }
  return {std::string("the outputs of all layers are finite for ") +
          (sees_all_batches(run.part<StepData>().step_size())
               ? "all batches of the step, so the cost or its gradient is not"
               : "the last batches of this process; it comes from another batch of the step, or from the "
                 "cost or its gradient") +
          unseen_data(run) + "; " + bad};
}

}  // namespace tpack
