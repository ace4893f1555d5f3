#include "backend/machine_limits.h"

#include <cmath>

#include <gtest/gtest.h>

#include "backend/open_device.h"

namespace tpack {
namespace {

TEST(MachineLimits, are_positive_and_finite) {
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    const auto device = open_device("cpu:0", DeviceOptions{.threads = 2, .precision = precision});
    device->create_variables(VariableTable());
    const MachineLimits limits = measure_limits(*device);
    for (const double limit : {limits.flops_per_s, limits.bytes_per_s}) {
      EXPECT_GT(limit, 0) << name_of(precision);
      EXPECT_TRUE(std::isfinite(limit)) << name_of(precision);
    }
  }
}

}  // namespace
}  // namespace tpack
