#include "backend/open_device.h"

#include <gmock/gmock-matchers.h>

#include "core/error.h"
#include "support/apart_device.h"
#include "support/positions.h"
#include "system/machine.h"

namespace tpack {
namespace {

using testing::ElementsAre;

TEST(OpenDevice, takes_all_processors_unless_the_settings_name_a_number_of_threads) {
  EngineSettings settings;
  EXPECT_EQ(open_device("cpu:0", settings)->threads(), static_cast<int>(available_processors()));
  settings.threads = 3;
  EXPECT_EQ(open_device("cpu:0", settings)->threads(), 3);
}

TEST(OpenDevice, opens_processors_and_the_reference) {
  EXPECT_EQ(open_device("cpu:0", {}, 1)->float_type(), DType::kFloat32);
  EngineSettings settings;
  settings.backend = EngineSettings::Backend::kReference;
  settings.dtype = DType::kFloat64;
  const auto device = open_device("cpu:1", settings, 1);
  EXPECT_EQ(device->float_type(), DType::kFloat64);
  EXPECT_EQ(device->name(), "cpu:1");
}

TEST(OpenDevice, rejects_what_is_not_a_device) {
  for (const std::string name : {"cpu", "cpu:", "cpu:x", "tpu:0", "gpu:0", "cpu:0:1", "cpu:00", "cpu:01"}) {
    EXPECT_THAT([&] { open_device(name, {}, 1); },
                testing::ThrowsMessage<ConfigError>("unknown device '" + name + "'; use cpu:0, cpu:1, ..."));
  }
}

TEST(OpenDevice, opens_devices_of_a_kind_that_was_added) {
  const DeviceKind near("near", make_apart_device);
  EXPECT_EQ(open_device("near:3", {}, 1)->name(), "near:3");
  EXPECT_THAT(
      [] { open_device("far:0", {}, 1); },
      testing::ThrowsMessage<ConfigError>("unknown device 'far:0'; use cpu:0, cpu:1, near:0, near:1, ..."));
  {
    const DeviceKind twice("near", make_apart_device);
    EXPECT_THROW(open_device("near:3", {}, 1), InternalError);
  }
  EXPECT_EQ(open_device("near:3", {}, 1)->name(), "near:3") << "of the first one";
}

std::vector<size_t> parts_of(const std::vector<std::string>& names) {
  std::vector<Ref<DeviceName>> devices;
  for (const std::string& name : names) devices.push_back({name, in_train_yaml(3, 9)});
  return processor_parts(devices);
}

TEST(OpenDevice, divides_the_processors_among_devices) {
  EXPECT_THAT(parts_of({"cpu:0"}), ElementsAre(0));
  EXPECT_THAT(parts_of({"cpu:1", "cpu:2", "cpu:0"}), ElementsAre(1, 2, 0));
}

TEST(OpenDevice, rejects_a_part_that_is_not_there) {
  EXPECT_THAT([] { parts_of({"cpu:1"}); },
              testing::ThrowsMessage<ConfigError>(
                  "train.yaml:3:9: device cpu:1: cpu:N is the N-th of as many parts of the "
                  "processors as there are devices; use cpu:0"));
  EXPECT_THAT(
      [] {
        parts_of({"cpu:0", "cpu:99999"});
      },
      testing::ThrowsMessage<ConfigError>(testing::HasSubstr("; use cpu:0 and cpu:1")));
  EXPECT_THAT(
      [] {
        parts_of({"cpu:0", "cpu:1", "cpu:3"});
      },
      testing::ThrowsMessage<ConfigError>(testing::HasSubstr("; use cpu:0 to cpu:2")));
}

TEST(OpenDevice, rejects_devices_of_two_kinds) {
  const DeviceKind other("other", make_apart_device);
  EXPECT_THAT(parts_of({"other:4", "other:2"}), ElementsAre(0, 1));
  EXPECT_THAT(
      [] {
        parts_of({"cpu:0", "other:0"});
      },
      testing::ThrowsMessage<ConfigError>(
          "train.yaml:3:9: devices cpu:0 and other:0 are of different kinds; use one kind"));
}

}  // namespace
}  // namespace tpack
