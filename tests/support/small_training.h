#pragma once

#include <gtest/gtest.h>

#include "comm/self_comm.h"
#include "support/fake_trainer.h"
#include "support/small_model.h"

namespace tpack {

/// Everything that a trainer of kSmallModel borrows; each trainer needs its own.
class SmallTraining {
 public:
  explicit SmallTraining(const std::string& trainer_yaml = "Simple", int64_t batch = 4,
                         const std::string& optimizer_yaml = "Adam: {learning_rate: 0.01}",
                         EngineSettings::Backend backend = EngineSettings::Backend::kReference)
      : SmallTraining(small_flow(22, "- BatchData: {batch_size: " + std::to_string(batch) + "}"),
                      trainer_yaml, optimizer_yaml, backend) {}
  explicit SmallTraining(DataFlow data, const std::string& trainer_yaml = "Simple",
                         const std::string& optimizer_yaml = "Adam: {learning_rate: 0.01}",
                         EngineSettings::Backend backend = EngineSettings::Backend::kReference,
                         std::unique_ptr<Comm> world = make_self_comm(),
                         std::unique_ptr<TowerFunction> model = model_of(kSmallModel),
                         const std::string& input = "Feed")
      : model_(std::move(model)),
        optimizer_(optimizer_of(optimizer_yaml)),
        flows_{{"train", std::move(data)}},
        input_(Registry<InputSource>::make_item(parse_yaml(input, "test.yaml"))),
        world_(std::move(world)),
        trainer_(Registry<Trainer>::make_item(parse_yaml(trainer_yaml, "test.yaml"))) {
    TrainSetup setup;
    setup.tower = model_.get();
    setup.updates = {{.optimizer = optimizer_.get()}};
    setup.flows = &flows_;
    setup.input = input_.get();
    setup.engine.backend = backend;
    setup.engine.threads = 1;
    setup.engine.algorithm = DeviceOptions::Algorithm::kDirect;
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
  CheckpointContent saved() const {
    CheckpointContent content;
    trainer_->save(content);
    for (auto& [name, tensor] : content.tensors) tensor = tensor.clone();
    return content;
  }
  /// The part about data in the checkpoint of a run that has not started.
  std::string state_of_new_data() {
    trainer_->initialize();
    CheckpointContent content;
    trainer_->save(content);
    return content.texts.at("data/json");
  }
  const TowerFunction& model() const { return *model_; }

 private:
  std::unique_ptr<TowerFunction> model_;
  std::unique_ptr<Optimizer> optimizer_;
  std::map<std::string, DataFlow> flows_;
  std::unique_ptr<InputSource> input_;
  Plan plan_;
  std::unique_ptr<Comm> world_;
  std::unique_ptr<Trainer> trainer_;
};

struct OwnSmallTraining {
  SmallTraining training;
};

/// A run of callbacks around a small training of its own.
class SmallRun : public OwnSmallTraining, public TestRun {
 public:
  explicit SmallRun(RunLength length, const std::string& folder = "",
                    const std::string& trainer_yaml = "Simple", int64_t batch = 4,
                    const std::string& optimizer_yaml = "Adam: {learning_rate: 0.01}",
                    EngineSettings::Backend backend = EngineSettings::Backend::kReference)
      : OwnSmallTraining{SmallTraining(trainer_yaml, batch, optimizer_yaml, backend)},
        TestRun(length, training.trainer(), folder) {}
};

/// Copies of all variables of model and optimizer.
inline std::map<std::string, Tensor> variables_of(Trainer& trainer) {
  std::map<std::string, Tensor> all;
  for (const VariableScope scope : {VariableScope::kModel, VariableScope::kOptimizer}) {
    for (const std::string& name : trainer.part<TrainedVariables>().variables()->names(scope))
      all[name] = trainer.part<TrainedVariables>().variables()->value(name).clone();
  }
  return all;
}

inline void expect_bit_equal(const std::map<std::string, Tensor>& a, const std::map<std::string, Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_GT(a.size(), 0U);
  for (const auto& [name, value] : a) EXPECT_TRUE(bit_equal(value, b.at(name))) << name;
}

}  // namespace tpack
