#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agents/agent_source.h"
#include "config/yaml_reader.h"
#include "dataflow/data_flow.h"

namespace tpack {

/// A predictor whose outputs a test computes.
class ScriptedPredictor final : public BatchPredictor {
 public:
  using Outputs = std::function<std::vector<Tensor>(const Tensor& observations)>;
  explicit ScriptedPredictor(Outputs outputs) : outputs_(std::move(outputs)) {}
  std::vector<Tensor> run(const Tensor& observations) override {
    ++calls;
    return outputs_(observations);
  }
  int calls = 0;

 private:
  Outputs outputs_;
};

/// A policy for Catch: the largest value is that of the step towards the ball.
inline Tensor follow_the_ball(const Tensor& boards) {
  const int64_t rows = boards.shape()[1];
  const int64_t columns = boards.shape()[2];
  const Tensor values = Tensor::zeros({DType::kFloat32, {boards.shape()[0], 3}});
  for (int64_t i = 0; i < boards.shape()[0]; ++i) {
    const auto cells = boards.row(i).span<float>();
    int64_t ball = -1;
    int64_t paddle = -1;
    for (int64_t cell = 0; cell < rows * columns; ++cell) {
      if (cells[static_cast<size_t>(cell)] == 0) continue;
      (cell < (rows - 1) * columns ? ball : paddle) = cell % columns;
    }
    values.row(i).span<float>()[static_cast<size_t>(ball < paddle ? 0 : ball > paddle ? 2 : 1)] = 1;
  }
  return values;
}

/// A flow that an agent fills, with the agent started.
struct PlayedFlow {
  explicit PlayedFlow(const std::string& source_yaml, uint64_t seed = 1)
      : flow(make_flow(parse_yaml("[" + source_yaml + ", {BatchData: {batch_size: 4}}]", "flow.yaml"))),
        agent(agent_source_of(*flow.flow())->start(seed)) {}

  DataFlow flow;
  Agent& agent;
};

/// All that the next `batches` batches hold.
inline std::vector<double> numbers_of(const PlayedFlow& played, int64_t batches) {
  const auto cursor = played.flow.open({.position = played.agent.given() / 4});
  std::vector<double> all;
  Datapoint batch;
  for (int64_t n = 0; n < batches; ++n) {
    cursor->next(batch);
    for (size_t i = 0; i < batch.size(); ++i)
      for (int64_t k = 0; k < batch.tensor(i).elements(); ++k) all.push_back(batch.tensor(i).at(k));
  }
  return all;
}

}  // namespace tpack
