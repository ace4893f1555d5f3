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
    const DataParallel& replicas = dynamic_cast<DataParallelTrainer&>(trainer).replicas();
    for (size_t k = 0; k < replicas.local_towers(); ++k)
      EXPECT_EQ(replicas.device(k).variables().number("learning_rate"), 0.5) << "tower " << k;
  }
}

TEST(SyncMultiGpu, refuses_a_device_that_is_named_twice) {
  try {
    SmallTraining("SyncMultiGPU: {devices: [cpu:0, cpu:1, cpu:0]}");
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "test.yaml:1:15: trainer SyncMultiGPU: duplicate device 'cpu:0'; each device has one tower");
  }
}

TEST(SyncMultiGpu, refuses_an_empty_list) {
  try {
    SmallTraining("SyncMultiGPU: {devices: []}");
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(
        error.what(),
        "test.yaml:1:15: trainer SyncMultiGPU: 'devices' is empty; name at least one, such as cpu:0");
  }
}

const live::Fields kSyncMultiGpu("trainer", "SyncMultiGPU", {.values = {{"devices", "[cpu:0]"}}});

}  // namespace
}  // namespace tpack
