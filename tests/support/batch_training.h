#pragma once

#include <gtest/gtest.h>

#include "comm/self_comm.h"
#include "config/yaml_reader.h"
#include "dataflow/data_flow.h"
#include "input/input_source.h"
#include "train/trainer.h"

namespace tpack {

inline DataFlow flow_of(const std::string& yaml) { return make_flow(parse_yaml(yaml, "test.yaml")); }

/// Everything that a trainer without a model borrows; each trainer needs its own.
class BatchTraining {
 public:
  explicit BatchTraining(const std::string& trainer_yaml, DataFlow data,
                         std::unique_ptr<Comm> world = make_self_comm(),
                         EngineSettings::Backend backend = EngineSettings::Backend::kReference,
                         const std::string& input = "Feed")
      : flows_{{"train", std::move(data)}},
        input_(Registry<InputSource>::make(input)),
        world_(std::move(world)),
        trainer_(Registry<Trainer>::make_item(parse_yaml(trainer_yaml, "test.yaml"))) {
    TrainSetup setup;
    setup.flows = &flows_;
    setup.input = input_.get();
    setup.engine.backend = backend;
    setup.engine.threads = 1;
    setup.engine.algorithm = DeviceOptions::Algorithm::kHeuristic;
    setup.plan = &plan_;
    setup.world = world_.get();
    setup.seed = 5;
    trainer_->setup(setup);
  }
  Trainer& trainer() { return *trainer_; }
  void run(int64_t begin, int64_t end) {
    for (int64_t step = begin; step < end; ++step) ASSERT_TRUE(trainer_->step(step, {})) << step;
  }
  /// What a checkpoint would have, in memory of its own.
  CheckpointContent saved() {
    CheckpointContent content;
    trainer_->save(content);
    for (auto& [name, tensor] : content.tensors) tensor = tensor.clone();
    return content;
  }

 private:
  std::map<std::string, DataFlow> flows_;
  std::unique_ptr<InputSource> input_;
  Plan plan_;
  std::unique_ptr<Comm> world_;
  std::unique_ptr<Trainer> trainer_;
};

}  // namespace tpack
