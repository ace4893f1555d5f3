#include "train/tower_outputs.h"

#include <gmock/gmock-matchers.h>

#include "support/errors.h"
#include "support/positions.h"
#include "support/small_training.h"

namespace tpack {
namespace {

using testing::ElementsAre;

constexpr const char* kWithDropout = R"(
inputs:
  x: {shape: [5]}
  label: {shape: [], dtype: int32}
layers:
  - FullyConnected: {name: fc0, units: 7}
  - Dropout: {name: drop, rate: 0.5}
  - BatchNorm: {name: bn}
  - FullyConnected: {name: fc1, units: 3}
cost:
  - SoftmaxCrossEntropy: {logits: fc1, labels: label}
)";

class TowerOutputsTest : public testing::Test {
 protected:
  std::vector<std::string> names_of(const std::vector<Ref<OutputPattern>>& patterns) {
    std::vector<std::string> names;
    const TowerOutputs outputs(*training_.trainer().part<TrainedModel>().model_handle(), patterns, 4);
    for (const auto& output : outputs.outputs()) names.push_back(output.name);
    return names;
  }

  SmallTraining training_{small_flow(22, "- BatchData: {batch_size: 4}"),
                          "Simple",
                          "Adam: {learning_rate: 0.01}",
                          EngineSettings::Backend::kReference,
                          make_self_comm(),
                          model_of(kWithDropout)};
};

TEST_F(TowerOutputsTest, are_in_the_order_in_which_they_are_computed) {
  EXPECT_THAT(names_of({{".*"}}), ElementsAre("x", "label", "fc0", "drop", "bn", "fc1"));
  EXPECT_THAT(names_of({{"fc1"}, {"label"}, {"f.0"}}), ElementsAre("label", "fc0", "fc1"));
}

TEST_F(TowerOutputsTest, that_do_not_exist_are_all_reported) {
  const auto look = [&] { names_of({{"fc2", in_train_yaml(3, 5)}, {"fc0"}, {"dorp", in_train_yaml(4, 5)}}); };
  EXPECT_TRUE(says(error_from(look), {"train.yaml:3:5:", "'fc2'", "did you mean 'fc0'?",
                                      "train.yaml:4:5:", "'dorp'", "did you mean 'drop'?"}));
}

TEST_F(TowerOutputsTest, are_those_of_the_step) {
  Trainer& trainer = training_.trainer();
  TowerOutputs watched(*trainer.part<TrainedModel>().model_handle(), {{"x"}, {"drop"}, {"fc1"}}, 4);
  Tensor x;
  Tensor drop;
  trainer.part<StepData>().watch_batches([&](const TowerBatch& batch) {
    watched.compute(batch);
    x = watched.value(0).clone();
    drop = watched.value(1).clone();
  });
  trainer.initialize();
  trainer.step(0, {});
  EXPECT_TRUE(bit_equal(x, trainer.part<StepData>().last_batch(0)->inputs[0]));
  int zeros = 0;
  for (const float value : drop.span<float>()) zeros += value == 0 ? 1 : 0;
  EXPECT_GT(zeros, 3);
  EXPECT_LT(zeros, 25);
  // The same draws again, with other weights: the same elements are dropped.
  watched.compute(*trainer.part<StepData>().last_batch(0));
  for (int64_t i = 0; i < drop.shape().elements(); ++i)
    EXPECT_EQ(drop.at(i) == 0, watched.value(1).at(i) == 0) << i;
  EXPECT_FALSE(bit_equal(drop, watched.value(1)));
}

TEST_F(TowerOutputsTest, change_nothing_in_the_training) {
  const auto train = [&](SmallTraining& training, bool watches) {
    Trainer& trainer = training.trainer();
    std::unique_ptr<TowerOutputs> outputs;
    if (watches) {
      outputs = std::make_unique<TowerOutputs>(*trainer.part<TrainedModel>().model_handle(),
                                               std::vector<Ref<OutputPattern>>{{".*"}}, 4);
      trainer.part<StepData>().watch_batches([&](const TowerBatch& batch) { outputs->compute(batch); });
    }
    trainer.initialize();
    for (int step = 0; step < 5; ++step) trainer.step(step, {});
    return variables_of(trainer);
  };
  for (const auto backend : {EngineSettings::Backend::kReference, EngineSettings::Backend::kKernels}) {
    const auto training = [&] {
      return SmallTraining(small_flow(22, "- BatchData: {batch_size: 4}"), "SyncMultiGPU: {devices: 2}",
                           "Adam", backend, make_self_comm(), model_of(kWithDropout));
    };
    SmallTraining with = training();
    SmallTraining without = training();
    expect_bit_equal(train(with, true), train(without, false));
  }
}

}  // namespace
}  // namespace tpack
