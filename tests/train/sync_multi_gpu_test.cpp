#include <gtest/gtest.h>

#include "support/errors.h"
#include "support/live_fields.h"
#include "support/model_with_state.h"
#include "support/small_training.h"
#include "train/data_parallel_trainer.h"

namespace tpack {
namespace {

TEST(SyncMultiGpu, is_one_replica_a_device) {
  SmallTraining training("SyncMultiGPU: {devices: [cpu:0, cpu:1]}");
  training.trainer().initialize();
  EXPECT_EQ(training.trainer().part<StepData>().step_size().towers, 2);
  EXPECT_EQ(training.trainer().part<StepData>().steps_per_pass(), 2);  // 5 batches, 2 a step
}

TEST(SyncMultiGpu, sets_a_hyper_parameter_on_every_replica) {
  SmallTraining one("SyncMultiGPU: {devices: [cpu:0]}", 4, "SGD: {learning_rate: 0}");
  SmallTraining two("SyncMultiGPU: {devices: [cpu:0, cpu:1]}", 4, "SGD: {learning_rate: 0}");
  for (SmallTraining* training : {&one, &two}) {
    Trainer& trainer = training->trainer();
    trainer.initialize();
    const auto before = variables_of(trainer);
    trainer.step(0, {});
    expect_bit_equal(variables_of(trainer), before);
    trainer.part<TrainedVariables>().set_hyper_parameter("learning_rate", 0.5);
    trainer.step(1, {});
    EXPECT_FALSE(bit_equal(variables_of(trainer).at("fc0/W"), before.at("fc0/W")));
    const Replicas& replicas = dynamic_cast<DataParallelTrainer&>(trainer).replicas();
    for (size_t k = 0; k < replicas.local_towers(); ++k)
      EXPECT_EQ(replicas.device(k).variables().number("learning_rate"), 0.5) << "tower " << k;
  }
}

TEST(SyncMultiGpu, continues_with_the_same_bits_with_every_optimizer) {
  for (const ComponentInfo* info : Registry<Optimizer>::table().list()) {
    for (const char* trainer : {"SyncMultiGPU: {devices: 2}", "Simple"}) {
      const auto training = [&] {
        auto made = std::make_unique<SmallTraining>(trainer, 4, info->example());
        made->trainer().initialize();
        return made;
      };
      const auto whole = training();
      whole->run(0, 9);
      const auto first = training();
      first->run(0, 4);
      const auto second = training();
      second->trainer().load(first->saved(), "model-4.h5");
      second->run(4, 9);
      SCOPED_TRACE(info->name + " " + trainer);
      expect_bit_equal(variables_of(second->trainer()), variables_of(whole->trainer()));
    }
  }
}

/// Norms are sums of one order, and noise is drawn alike.
TEST(SyncMultiGpu, keeps_the_variables_of_towers_equal) {
  for (const char* optimizer :
       {"LARS: {learning_rate: 5, weight_decay: 0.1}", "LAMB: {weight_decay: 0.1}",
        "Momentum: {learning_rate: 0.1, gradient: [VariableNormClip: 0.1, GradientNoise: 0.1]}"}) {
    for (const auto backend : {EngineSettings::Backend::kReference, EngineSettings::Backend::kKernels}) {
      SmallTraining training("SyncMultiGPU: {devices: 2, mode: replicated}", 4, optimizer, backend);
      training.trainer().initialize();
      const auto before = variables_of(training.trainer());
      training.run(0, 7);
      const Replicas& replicas = dynamic_cast<DataParallelTrainer&>(training.trainer()).replicas();
      ASSERT_EQ(replicas.local_towers(), 2U);
      const VariableStore& first = replicas.device(0).variables();
      const VariableStore& second = replicas.device(1).variables();
      for (const std::string& name : first.names(VariableScope::kModel))
        EXPECT_TRUE(bit_equal(first.tensor(name), second.tensor(name))) << optimizer << " " << name;
      EXPECT_FALSE(bit_equal(variables_of(training.trainer()).at("fc0/W"), before.at("fc0/W"))) << optimizer;
    }
  }
}

TEST(SyncMultiGpu, has_the_same_bits_with_variables_in_one_place) {
  const auto train = [](const std::string& mode) {
    SmallTraining training("SyncMultiGPU: {devices: 2, mode: " + mode + "}");
    training.trainer().initialize();
    training.run(0, 7);
    return std::pair(variables_of(training.trainer()),
                     training.trainer().part<StepPrograms>().memory().variables);
  };
  const auto [replicated, bytes] = train("replicated");
  const auto [shared, fewer_bytes] = train("parameter_server");
  expect_bit_equal(shared, replicated);
  EXPECT_LT(fewer_bytes, bytes);
}

TEST(SyncMultiGpu, scales_a_rate_with_the_samples_of_a_step) {
  const auto rate_of = [](const std::string& trainer) {
    SmallTraining training(trainer, 4, "SGD: {learning_rate: {base: 0.1, per: 8}}");
    training.trainer().initialize();
    return training.trainer().part<TrainedVariables>().hyper_parameter("learning_rate");
  };
  EXPECT_FLOAT_EQ(static_cast<float>(rate_of("Simple")), 0.05F);
  EXPECT_FLOAT_EQ(static_cast<float>(rate_of("SyncMultiGPU: {devices: 2}")), 0.1F);
  EXPECT_FLOAT_EQ(static_cast<float>(rate_of("SyncMultiGPU: {devices: 2, accumulate: 3}")), 0.3F);
}

class TowersWithState : public testing::TestWithParam<std::string> {
 protected:
  static constexpr size_t kTowers = 2;

  std::unique_ptr<SmallTraining> training(const std::string& trainer = GetParam()) const {
    auto made = std::make_unique<SmallTraining>(
        small_flow(22, "- BatchData: {batch_size: 4}"), trainer, "Adam: {learning_rate: 0.01}",
        EngineSettings::Backend::kReference, make_self_comm(), std::make_unique<ModelWithState>());
    made->trainer().initialize();
    return made;
  }
  static double number(SmallTraining& training, size_t tower, const std::string& variable) {
    const Replicas& replicas = dynamic_cast<DataParallelTrainer&>(training.trainer()).replicas();
    return replicas.device(tower).variables().number(variable);
  }
};

TEST_P(TowersWithState, save_the_local_variables_of_each_and_go_on_with_them) {
  const auto whole = training();
  whole->run(0, 12);
  const auto first = training();
  first->run(0, 7);
  const CheckpointContent content = first->saved();
  EXPECT_EQ(content.tensors.at("local/trace").at(0), number(*first, 0, "trace"));
  EXPECT_EQ(content.tensors.at("replicas/1/local/trace").at(0), number(*first, 1, "trace"));
  EXPECT_NE(number(*first, 0, "trace"), number(*first, 1, "trace"));
  const auto second = training();
  second->trainer().load(content, "model-7.h5");
  second->run(7, 12);
  for (size_t k = 0; k < kTowers; ++k)
    EXPECT_EQ(number(*second, k, "trace"), number(*whole, k, "trace")) << "tower " << k;
  expect_bit_equal(variables_of(second->trainer()), variables_of(whole->trainer()));
}

TEST_P(TowersWithState, resume_with_as_many_replicas_only) {
  const auto two = training();
  two->run(0, 3);
  const auto one = training("Simple: {accumulate: 2}");
  EXPECT_TRUE(says(error_from<CheckpointError>([&] { one->trainer().load(two->saved(), "model-3.h5"); }),
                   {"model-3.h5", "2 replicas", "this run has 1", "'trace'", "resume with as many"}));
}

TEST_P(TowersWithState, that_a_checkpoint_lacks_are_named) {
  const auto first = training();
  first->run(0, 3);
  CheckpointContent content = first->saved();
  content.tensors.erase("replicas/1/local/trace");
  EXPECT_TRUE(says(error_from<CheckpointError>([&] { first->trainer().load(content, "model-3.h5"); }),
                   {"has no replicas/1/local/trace of"}));
}

INSTANTIATE_TEST_SUITE_P(Modes, TowersWithState,
                         testing::Values("SyncMultiGPU: {devices: 2}",
                                         "SyncMultiGPU: {devices: 2, mode: parameter_server}"),
                         [](const auto& one) { return one.index == 0 ? "replicated" : "parameter_server"; });

using BroadcastBetweenTowers = TowersWithState;

TEST_P(BroadcastBetweenTowers, of_an_epoch_is_of_all_but_local_variables) {
  const auto training =
      this->training("SyncMultiGPU: {devices: 2, broadcast_every_epoch: " + GetParam() + "}");
  training->run(0, 3);
  const double average = number(*training, 0, "average");
  const double of_the_other = number(*training, 1, "average");
  const double trace_of_the_other = number(*training, 1, "trace");
  ASSERT_NE(average, of_the_other);
  training->trainer().part<ReplicaState>().before_epoch();
  EXPECT_EQ(number(*training, 1, "average"), GetParam() == "true" ? average : of_the_other);
  EXPECT_EQ(number(*training, 1, "trace"), trace_of_the_other);
}

INSTANTIATE_TEST_SUITE_P(OnAndOff, BroadcastBetweenTowers, testing::Values("true", "false"),
                         [](const auto& one) { return one.param; });

TEST(SyncMultiGpu, names_a_device_that_is_not_there_at_its_place) {
  EXPECT_TRUE(says(error_from([] { SmallTraining("SyncMultiGPU: {devices: [cpu:0, cpu:7]}"); }),
                   {"test.yaml:1:33: device cpu:7: "}));
}

const live::Fields kSyncMultiGpu("trainer", "SyncMultiGPU", {.values = {{"devices", "[cpu:0]"}}});

}  // namespace
}  // namespace tpack
