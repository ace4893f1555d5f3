#include <gtest/gtest.h>

#include "support/apart_device.h"
#include "support/live_fields.h"
#include "support/small_training.h"

namespace tpack {
namespace {

TEST(SimpleTrainer, trains_on_the_device_it_is_told) {
  const DeviceKind told("told", make_apart_device);
  SmallTraining training("SimpleTrainer: {device: told:1}");  // tensorpack's long name
  training.trainer().initialize();
  EXPECT_EQ(training.trainer().part<TrainedModel>().model_handle()->device->name(), "told:1");
  EXPECT_EQ(training.trainer().part<StepData>().step_size().ranks, 1);
  for (const std::string device : {"gpu:0", "cpu"})
    EXPECT_THROW(SmallTraining("Simple: {device: " + device + "}"), ConfigError) << device;
}

const live::Fields kSimple("trainer", "Simple", {.values = {{"device", "apart:0"}}});

}  // namespace
}  // namespace tpack
