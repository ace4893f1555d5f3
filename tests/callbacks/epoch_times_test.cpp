#include "callbacks/epoch_times.h"

#include <gtest/gtest.h>

namespace tpack {
namespace {

TEST(EpochTimes, the_median_does_not_mind_one_slow_epoch) {
  EpochTimes times(5, EpochTimes::Average::kMedian);
  EXPECT_EQ(times.average(), 0);
  for (const double seconds : {10.0, 11.0, 500.0}) times.add(seconds);
  EXPECT_EQ(times.average(), 11);
  times.add(12);
  EXPECT_EQ(times.average(), 11.5);
}

TEST(EpochTimes, only_the_newest_count) {
  EpochTimes times(2, EpochTimes::Average::kMean);
  for (const double seconds : {100.0, 1.0, 3.0}) times.add(seconds);
  EXPECT_EQ(times.average(), 2);
}

}  // namespace
}  // namespace tpack
