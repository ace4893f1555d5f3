#include <gmock/gmock.h>

#include "support/apart_device.h"
#include "support/live_fields.h"
#include "support/small_training.h"

namespace tpack {
namespace {

TEST(SimpleTrainer, trains_on_the_device_it_is_told) {
  const DeviceKind told("told", make_apart_device);
  SmallTraining training("Simple: {device: told:1}");
  training.trainer().initialize();
  EXPECT_EQ(training.trainer().part<TrainedModel>().model_handle()->device->name(), "told:1");
  EXPECT_EQ(training.trainer().part<StepData>().step_size().ranks, 1);
}

TEST(SimpleTrainer, has_tensorpacks_long_name_too) {
  SmallTraining training("SimpleTrainer");
  training.trainer().initialize();
  EXPECT_TRUE(training.trainer().step(0, {}));
}

TEST(SimpleTrainer, rejects_a_device_that_is_not_there) {
  EXPECT_THROW(SmallTraining("Simple: {device: gpu:0}"), ConfigError);
  EXPECT_THROW(SmallTraining("Simple: {device: cpu}"), ConfigError);
}

const live::Fields kSimple("trainer", "Simple", {.values = {{"device", "apart:0"}}});

}  // namespace
}  // namespace tpack
