#include "callbacks/watched_tensors.h"

namespace tpack {

WatchedTensors::WatchedTensors(const Setup& setup, const TensorPatterns& patterns) : run_(setup.run()) {
  if (patterns.outputs.empty() && patterns.variables.empty() && patterns.gradients.empty())
    throw ConfigError("it has no tensor; name some in outputs, variables or gradients");
  if (!patterns.outputs.empty() && run_.part<StepData>().step_size().batch == 0)
    throw ConfigError(patterns.outputs[0].position,
                      "outputs are computed for training batches, but this trainer has none");
  Diagnostics errors;
  const auto look_for = [&](const auto& some) {
    try {
      some();
    } catch (const ConfigError& error) {
      errors.add(error, {});
    }
  };
  look_for([&] {
    if (patterns.outputs.empty()) return;
    outputs_ = std::make_unique<TowerOutputs>(run_.model_handle(), patterns.outputs,
                                              run_.part<StepData>().step_size().batch);
    for (const TowerOutputs::Output& output : outputs_->outputs()) names_.push_back(output.name);
  });
  const auto add = [&](const std::string& name, const std::string& stored, const TensorSpec& spec) {
    names_.push_back(name);
    stored_.push_back(stored);
    shapes_.push_back(spec.shape);
  };
  look_for([&] {
    for (const auto& [name, spec] : setup.variables(patterns.variables)) add(name, name, spec);
  });
  look_for([&] {
    for (const auto& [name, spec] : setup.trained_variables(patterns.gradients))
      add("gradient/" + name, gradient_name(name), spec);
  });
  errors.throw_if_any();
  if (!outputs_) return;
  run_.part<StepData>().watch_batches(
      [this, watched = std::weak_ptr<bool>(wanted_)](const TowerBatch& batch) {
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
  const std::optional<TowerBatch> batch = last_batch();
  if (batch) outputs_->compute(*batch);
  return batch.has_value();
}

std::optional<TowerBatch> WatchedTensors::last_batch() const {
  if (run_.has_stepped() || kept_batch_.empty()) return run_.part<StepData>().last_batch(0);
  return TowerBatch{kept_batch_, kept_info_};
}

Shape WatchedTensors::shape(size_t i) const {
  return i < outputs() ? outputs_->outputs()[i].spec.shape : shapes_[i - outputs()];
}

std::optional<Tensor> WatchedTensors::value(size_t i) const {
  if (i < outputs()) return outputs_->value(i);
  const std::string& name = stored_[i - outputs()];
  if (!is_gradient(i)) return run_.store().value(name);
  if (const auto kept = kept_gradients_.find(names_[i]); kept != kept_gradients_.end() && !run_.has_stepped())
    return kept->second;
  const Tensor value = run_.store().value(name);
  const std::optional<double> scale =
      run_.part<GradientUpdates>().gradient_scale(name.substr(name.find('/') + 1));
  if (!scale || scale == 1) return scale ? std::optional(value) : std::nullopt;
  Tensor mean = value.clone();
  visit(mean.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (T& x : mean.span<T>()) x = static_cast<T>(static_cast<double>(x) * *scale);
  });
  return mean;
}

bool WatchedTensors::is_gradient(size_t i) const {
  return i >= outputs() && stored_[i - outputs()].starts_with('@');
}

void WatchedTensors::save(State& state) const {
  if (!run_.is_before_phase()) return;
  if (const auto batch = outputs_ ? last_batch() : std::nullopt) {
    for (size_t i = 0; i < batch->inputs.size(); ++i)
      state.put("input_" + std::to_string(i), batch->inputs[i]);
    state.put("inputs", batch->inputs.size());
    state.put("seed", batch->info.seed);
    state.put("step", batch->info.step);
    state.put("replica", batch->info.replica);
  }
  State gradients;
  for (size_t i = 0; i < names_.size(); ++i) {
    const std::optional<Tensor> gradient = is_gradient(i) ? value(i) : std::nullopt;
    if (gradient) gradients.put(names_[i], *gradient);
  }
  state.put("of_last_step", gradients);
}

void WatchedTensors::load(const State& state) {
  for (int64_t i = 0; i < state.get<int64_t>("inputs", 0); ++i)
    kept_batch_.push_back(state.get<Tensor>("input_" + std::to_string(i)));
  if (!kept_batch_.empty()) {
    kept_info_ = {.seed = static_cast<uint64_t>(state.get<int64_t>("seed")),
                  .step = state.get<int64_t>("step"),
                  .replica = state.get<int64_t>("replica")};
  }
  kept_gradients_ = state.part("of_last_step").tensors();
}

}  // namespace tpack
