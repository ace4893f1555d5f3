#include "callbacks/nvml.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "support/errors.h"
#include "support/paths.h"

namespace tpack {
namespace {

TEST(Nvml, reads_what_the_devices_do) {
  const Nvml nvml(build_folder() + "/tests/callbacks/libfake_nvml.so");
  EXPECT_EQ(nvml.count(), 2U);
  const GpuReading first = nvml.read(1);
  EXPECT_EQ(first.utilization, 20);
  EXPECT_EQ(first.used_bytes, 2'000'000'000U);
  EXPECT_EQ(nvml.read(1).utilization, 30);
  EXPECT_EQ(nvml.read(0).used_bytes, 1'000'000'000U);
}

std::string error_of_library(const std::string& library) {
  return error_from<ResourceError>([&] { const Nvml nvml(library); });
}

TEST(Nvml, says_what_is_missing) {
  EXPECT_TRUE(says(error_of_library("libno-such-nvml.so"), {"cannot load libno-such-nvml.so"}));
  EXPECT_EQ(error_of_library("libm.so.6"), "libm.so.6 has no function nvmlInit_v2");
}

}  // namespace
}  // namespace tpack
