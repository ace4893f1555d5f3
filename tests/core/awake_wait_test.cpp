#include "core/awake_wait.h"

#include <gtest/gtest.h>

#include "core/clock.h"

namespace tpack {
namespace {

TEST(AwakeWait, says_when_it_is_time_to_sleep) {
  const Stopwatch watch;
  AwakeWait wait;
  int64_t looks = 1;
  while (wait.next()) ++looks;
  EXPECT_GE(watch.seconds(), AwakeWait::kMostS);
  EXPECT_GT(looks, 1);
}

}  // namespace
}  // namespace tpack
