#include "predict/named_predictor.h"

#include <optional>

#include "input/input_source.h"

namespace tpack {

void check_batch(const std::vector<TowerInput>& inputs, const std::map<std::string, Tensor>& batch) {
  std::optional<int64_t> samples;
  for (const TowerInput& input : inputs) {
    const auto given = batch.find(input.name);
    if (given == batch.end()) continue;
    const TensorSpec wanted = input.batch_spec(Shape::kUnknown);
    const TensorSpec& found = given->second.spec();
    if (found.dtype != wanted.dtype || !fits(wanted.shape, found.shape) || found.shape.elements() == 0)
      throw ShapeError("input '" + input.name + "' takes " + wanted.str() + ", not " + found.str());
    if (!input.batched) continue;
    const int64_t count = found.shape[0];
    if (samples.value_or(count) != count)
      throw ShapeError("input '" + input.name + "' has " + std::to_string(count) +
                       " samples, but another one has " + std::to_string(*samples));
    samples = count;
  }
}

Predictor& NamedPredictor::predictor_for(const std::vector<std::string>& inputs) {
  const std::lock_guard lock(making_);
  std::unique_ptr<Predictor>& found = predictors_[inputs];
  if (!found) found = std::make_unique<Predictor>(model_, outputs_, inputs, compiling_);
  return *found;
}

std::map<std::string, Tensor> NamedPredictor::run(const std::map<std::string, Tensor>& batch) {
  check_batch(model_.tower->inputs(), batch);
  std::vector<std::string> names;
  std::vector<Tensor> values;
  for (const auto& [name, value] : batch) {
    names.push_back(name);
    values.push_back(value);
  }
  Predictor& predictor = predictor_for(names);
  predictor.prepare(values);
  std::vector<Tensor> results;
  {
    const std::lock_guard turn(running_);
    results = predictor.run(values);
  }
  std::map<std::string, Tensor> named;
  for (size_t i = 0; i < results.size(); ++i) named[outputs_[i].name] = results[i];
  return named;
}

}  // namespace tpack
