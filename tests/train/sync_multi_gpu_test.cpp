#include <gmock/gmock.h>

#include "support/live_fields.h"
#include "support/small_training.h"
#include "train/data_parallel_trainer.h"

namespace tpack {
namespace {

TEST(SyncMultiGpu, is_one_replica_a_device) {
  SmallTraining training("SyncMultiGPU: {devices: [cpu:0, cpu:1]}");
  training.trainer().initialize();
  EXPECT_EQ(training.trainer().step_size().towers, 2);
  EXPECT_EQ(training.trainer().steps_per_pass(), 2);  // 5 batches, 2 a step
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
    trainer.set_hyper_parameter("learning_rate", 0.5);
    trainer.step(1, {});
    EXPECT_FALSE(bit_equal(variables_of(trainer).at("fc0/W"), before.at("fc0/W")));
    const Replicas& replicas = dynamic_cast<DataParallelTrainer&>(trainer).replicas();
    for (size_t k = 0; k < replicas.local_towers(); ++k)
      EXPECT_EQ(replicas.device(k).variables().number("learning_rate"), 0.5) << "tower " << k;
  }
}

TEST(SyncMultiGpu, has_the_same_bits_with_variables_in_one_place) {
  const auto train = [](const std::string& mode) {
    SmallTraining training("SyncMultiGPU: {devices: 2, mode: " + mode + "}");
    training.trainer().initialize();
    for (int64_t step = 0; step < 7; ++step) EXPECT_TRUE(training.trainer().step(step, {}));
    return std::pair(variables_of(training.trainer()), training.trainer().memory().variables);
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
    return training.trainer().hyper_parameter("learning_rate");
  };
  EXPECT_FLOAT_EQ(static_cast<float>(rate_of("Simple")), 0.05F);
  EXPECT_FLOAT_EQ(static_cast<float>(rate_of("SyncMultiGPU: {devices: 2}")), 0.1F);
  EXPECT_FLOAT_EQ(static_cast<float>(rate_of("SyncMultiGPU: {devices: 2, accumulate: 3}")), 0.3F);
}

TEST(SyncMultiGpu, names_a_device_that_is_not_there_at_its_place) {
  try {
    SmallTraining("SyncMultiGPU: {devices: [cpu:0, cpu:7]}");
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("test.yaml:1:33: device cpu:7: ")) << error.what();
  }
}

const live::Fields kSyncMultiGpu("trainer", "SyncMultiGPU", {.values = {{"devices", "[cpu:0]"}}});

}  // namespace
}  // namespace tpack
