#include "backend/open_device.h"

#include <gmock/gmock.h>

#include "core/error.h"

namespace tpack {
namespace {

TEST(OpenDevice, opens_processors_and_the_reference) {
  EXPECT_EQ(open_device("cpu:0", {}, 1)->float_type(), DType::kFloat32);
  EngineSettings settings;
  settings.backend = EngineSettings::Backend::kReference;
  settings.dtype = DType::kFloat64;
  const auto device = open_device("cpu:1", settings, 1);
  EXPECT_EQ(device->float_type(), DType::kFloat64);
  EXPECT_EQ(device->name(), "cpu:1");
}

TEST(OpenDevice, refuses_what_is_not_a_device) {
  for (const std::string name : {"cpu", "cpu:", "cpu:x", "tpu:0", "gpu:0", "cpu:0:1"}) {
    EXPECT_THAT([&] { open_device(name, {}, 1); },
                testing::ThrowsMessage<ConfigError>("unknown device '" + name + "'; use cpu:0, cpu:1, ..."));
  }
}

}  // namespace
}  // namespace tpack
