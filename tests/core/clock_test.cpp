#include "core/clock.h"

#include <ctime>

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

namespace tpack {
namespace {

TEST(Clock, wall_time_counts_seconds_since_1970) {
  const auto before = static_cast<double>(std::time(nullptr));
  const double now = wall_time_s();
  EXPECT_GE(now, before);
  EXPECT_LE(now, static_cast<double>(std::time(nullptr)) + 2);  // std::time may lag by a tick
}

TEST(Clock, stamp_is_fit_for_a_file_name) {
  EXPECT_THAT(time_stamp(), testing::MatchesRegex("20[0-9]{6}-[0-9]{6}"));
}

TEST(Stopwatch, never_runs_backwards) {
  Stopwatch watch;
  const double first = watch.seconds();
  EXPECT_GE(first, 0);
  EXPECT_GE(watch.seconds(), first);
  watch.reset();
  EXPECT_GE(watch.seconds(), 0);
}

}  // namespace
}  // namespace tpack
