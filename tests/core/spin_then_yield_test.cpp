#include "core/spin_then_yield.h"

#include <gtest/gtest.h>

#include "core/clock.h"

namespace tpack {
namespace {

TEST(SpinThenYield, says_when_it_is_time_to_sleep) {
  const Stopwatch watch;
  SpinThenYield wait;
  int64_t looks = 1;
  while (wait.next()) ++looks;
  EXPECT_GE(watch.seconds(), SpinThenYield::kMaxS);
  EXPECT_GT(looks, 1);
}

}  // namespace
}  // namespace tpack
