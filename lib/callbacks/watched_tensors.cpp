#include "callbacks/watched_tensors.h"

#include <algorithm>

#include "graph/variable_pattern.h"

namespace tpack {
namespace {

/// The names that match some pattern. Adds a problem for each pattern that matches none.
std::vector<std::string> matching(const std::vector<Ref<Variable>>& patterns, const std::string& what,
                                  const std::vector<std::string>& known, Diagnostics& errors) {
  std::vector<std::string> found;
  std::vector<bool> is_used(patterns.size(), false);
  for (const std::string& name : known) {
    bool any = false;
    for (size_t i = 0; i < patterns.size(); ++i) {
      if (!is_for_variable(patterns[i], name)) continue;
      any = true;
      is_used[i] = true;
    }
    if (any) found.push_back(name);
  }
  for (size_t i = 0; i < patterns.size(); ++i) {
    if (!is_used[i]) errors.add(patterns[i].position, no_match(what, patterns[i].name, known));
  }
  return found;
}

}  // namespace

WatchedTensors::WatchedTensors(const Setup& setup, const TensorPatterns& patterns) : run_(setup.run()) {
  if (patterns.outputs.empty() && patterns.variables.empty() && patterns.gradients.empty())
    throw ConfigError("it looks at no tensor; name some in outputs, variables or gradients");
  const TowerPlace place = run_.tower_place();
  Diagnostics errors;
  if (!patterns.outputs.empty() && run_.step_size().batch == 0)
    throw ConfigError(patterns.outputs[0].position,
                      "outputs are looked at for the batches of training, of which this trainer takes none");
  if (!patterns.outputs.empty()) {
    try {
      outputs_ = std::make_unique<TowerOutputs>(place, patterns.outputs, run_.step_size().batch);
      for (const TowerOutputs::Output& output : outputs_->outputs()) names_.push_back(output.name);
    } catch (const ConfigError& error) {
      errors.add(error, {});
    }
  }
  const std::vector<std::string> all = saved_names(*place.table, VariableScope::kModel);
  for (const std::string& name : matching(patterns.variables, "variable", all, errors)) {
    names_.push_back(name);
    stored_.push_back(name);
    shapes_.push_back(place.table->find(name)->spec.shape);
  }
  std::vector<std::string> trained;
  for (const ParameterGroup& group : place.table->groups())
    trained.insert(trained.end(), group.variables.begin(), group.variables.end());
  std::sort(trained.begin(), trained.end());
  for (const std::string& name : matching(patterns.gradients, "trained variable", trained, errors)) {
    names_.push_back("gradient/" + name);
    stored_.push_back(gradient_name(name));
    shapes_.push_back(place.table->find(name)->spec.shape);
  }
  errors.throw_if_any();
  if (!outputs_) return;
  run_.watch_batches([this, watched = std::weak_ptr<bool>(wanted_)](const TowerBatch& batch) {
    const auto wanted = watched.lock();
    if (!wanted || !*wanted) return;
    *wanted = false;
    outputs_->compute(batch);
  });
}

void WatchedTensors::compile() {
  if (outputs_) outputs_->compile();
}

bool WatchedTensors::compute() {
  if (!outputs_) return true;
  const auto batch = run_.last_batch(0);
  if (batch) outputs_->compute(*batch);
  return batch.has_value();
}

Shape WatchedTensors::shape(size_t i) const {
  return i < outputs() ? outputs_->outputs()[i].spec.shape : shapes_[i - outputs()];
}

std::optional<Tensor> WatchedTensors::value(size_t i) const {
  if (i < outputs()) return outputs_->value(i);
  const std::string& name = stored_[i - outputs()];
  const Tensor value = run_.variable(name);
  if (!name.starts_with('@')) return value;
  const std::optional<double> scale = run_.gradient_scale(name.substr(name.find('/') + 1));
  if (!scale || scale == 1) return scale ? std::optional(value) : std::nullopt;
  Tensor mean = value.clone();
  visit(mean.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (T& x : mean.span<T>()) x = static_cast<T>(static_cast<double>(x) * *scale);
  });
  return mean;
}

}  // namespace tpack
