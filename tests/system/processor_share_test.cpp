#include "system/processor_share.h"

#include <optional>
#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "system/machine.h"

namespace tpack {
namespace {

const std::string kStat =
    "cpu  900 0 90 9000 9 9 9 9 0 0\n"
    "cpu0 100 20 30 7000 500 6 7 8 50 60\n"
    "cpu1 200 0 0 1 1 0 0 0 0 0\n"
    "cpu10 5000 0 0 0 0 0 0 0 0 0\n"
    "intr 12345 0 1\n";

TEST(BusySeconds, are_those_of_the_named_processors_without_idling) {
  const auto second = static_cast<double>(sysconf(_SC_CLK_TCK));
  EXPECT_DOUBLE_EQ(busy_seconds(kStat, {0}).value() * second, 100 + 20 + 30 + 6 + 7 + 8);
  EXPECT_DOUBLE_EQ(busy_seconds(kStat, {0, 1}).value() * second, 171 + 200);
  EXPECT_DOUBLE_EQ(busy_seconds(kStat, {10}).value() * second, 5000);
}

TEST(BusySeconds, are_not_known_from_another_text) {
  EXPECT_FALSE(busy_seconds("", {0}));
  EXPECT_FALSE(busy_seconds(kStat, {0, 2})) << "one is not in the list";
  EXPECT_FALSE(busy_seconds("cpu0 100 20\n", {0}));
  EXPECT_FALSE(busy_seconds(kStat, {}));
}

TEST(ShareOfOthers, is_what_is_busy_without_this_process) {
  EXPECT_DOUBLE_EQ(share_of_others(12, 4, 10, 2), 0.4);
  EXPECT_DOUBLE_EQ(share_of_others(4, 0, 10, 1), 0.4);
  EXPECT_EQ(share_of_others(10, 10.02, 10, 1), 0) << "both are rounded";
  EXPECT_EQ(share_of_others(10.02, 0, 10, 1), 1);
}

TEST(ProcessorShare, does_not_count_what_this_process_does) {
  const auto own_seconds = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
  };
  const double own_before = own_seconds();
  const ProcessorShare share;
  const Stopwatch watch;
  EXPECT_FALSE(share.stolen()) << "too early to say";
  volatile double sum = 0;
  std::optional<double> taken;
  while (!(taken = share.stolen()) && watch.seconds() < 60) {
    for (int i = 0; i < 1'000'000; ++i) sum = sum + i;
  }
  ASSERT_TRUE(taken);
  const double own =
      (own_seconds() - own_before) / (watch.seconds() * static_cast<double>(allowed_cpus().size()));
  EXPECT_GT(own, 0);
  EXPECT_LE(*taken, 1.05 - own) << "all together cannot be more than the processors have";
}

}  // namespace
}  // namespace tpack
