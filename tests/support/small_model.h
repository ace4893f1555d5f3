#pragma once

#include <memory>
#include <string>

#include "config/yaml_reader.h"
#include "core/expression.h"
#include "dataflow/data_flow.h"
#include "model/model.h"
#include "optim/optimizer.h"

namespace tpack {

/// A two-layer network on vectors of 5 numbers with 3 classes.
inline const char* const kSmallModel = R"(
inputs:
  x: {shape: [5]}
  label: {shape: [], dtype: int32}
layers:
  - FullyConnected: {name: fc0, units: 7, activation: Tanh}
  - FullyConnected: {name: fc1, units: 3}
cost:
  - SoftmaxCrossEntropy: {logits: fc1, labels: label}
  - Regularize: {variables: "fc.*/W", l2: 0.01}
metrics:
  - Accuracy: {logits: fc1, labels: label}
)";

inline std::unique_ptr<TowerFunction> model_of(const std::string& yaml) {
  Diagnostics errors;
  const MapScope scope(ConfigNode::map({}));
  auto model = make_model(parse_yaml(yaml, "test.yaml"), scope, errors);
  errors.throw_if_any();
  return model;
}

/// Random samples for kSmallModel: `flow_tail` is what follows the source ("- BatchData: {batch_size: 4}").
inline DataFlow small_flow(int64_t samples, const std::string& flow_tail) {
  return make_flow(
      parse_yaml("- FakeData: {shapes: [[5], []], dtype: [float32, int32], names: [x, label], "
                 "domain: [0, 3], size: " +
                     std::to_string(samples) + "}\n" + flow_tail,
                 "test.yaml"));
}

inline std::unique_ptr<Optimizer> optimizer_of(const std::string& yaml) {
  return Registry<Optimizer>::make_item(parse_yaml(yaml, "test.yaml"));
}

}  // namespace tpack
