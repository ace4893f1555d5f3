#include "cpu/denormals.h"

#include <limits>

#include <gtest/gtest.h>

namespace tpack::cpu {
namespace {

/// Half of the smallest normal number, computed where the compiler cannot.
float half_of_smallest() {
  volatile float smallest = std::numeric_limits<float>::min();
  return smallest * 0.5F;
}

TEST(FlushDenormals, lasts_as_long_as_it_lives) {
  EXPECT_GT(half_of_smallest(), 0);
  {
    const FlushDenormals flush;
    EXPECT_EQ(half_of_smallest(), 0);
  }
  EXPECT_GT(half_of_smallest(), 0);
}

TEST(FlushDenormals, takes_denormal_operands_for_zero) {
  volatile float denormal = std::numeric_limits<float>::denorm_min();
  volatile float large = 0x1p100F;
  EXPECT_GT(denormal * large, 0);
  const FlushDenormals flush;
  EXPECT_EQ(denormal * large, 0);
}

}  // namespace
}  // namespace tpack::cpu
