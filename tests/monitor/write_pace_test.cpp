#include "monitor/write_pace.h"

#include <gtest/gtest.h>

namespace tpack {
namespace {

TEST(WritePace, writes_a_small_file_always) {
  WritePace pace;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(pace.is_due());
    pace.run([] { return size_t{1000}; });
  }
}

TEST(WritePace, rests_after_a_long_write_of_a_large_file) {
  constexpr double kSeconds = 0.05;
  const Stopwatch all;
  WritePace pace;
  pace.run([] {
    const Stopwatch watch;
    while (watch.seconds() < kSeconds) continue;
    return size_t{1} << 20U;
  });
  while (!pace.is_due()) continue;
  EXPECT_GE(all.seconds(), 20 * kSeconds) << "it took a twentieth of the time";
}

}  // namespace
}  // namespace tpack
