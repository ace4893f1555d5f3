// A loop of one's own over the flows of a config:  own_loop_of_config CONFIG CHECKPOINT
#include <cstdio>

#include "learner/learner.h"

using namespace tpack;

int main(int /*argc*/, char** argv) {
  Learner learner = Learner::from_config(argv[1]);
  const DataFlow& train = learner.flow("train");
  const auto batches = train.stream({.seed = 1, .passes = 10});
  while (auto batch = batches->next()) {
    Learner::Tensors inputs;  // valid while the batch exists
    for (size_t i = 0; i < batch->size(); ++i) inputs[train.spec()[i].name] = batch->tensor(i);
    learner.step(inputs);
  }
  const Learner::Figures figures = learner.evaluate(learner.flow("validation"));
  std::printf("accuracy %.3f\n", figures.at("accuracy"));
  learner.save(argv[2]);
  return figures.at("accuracy") > 0.9 ? 0 : 1;
}
