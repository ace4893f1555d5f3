#include "core/machine.h"

#include <fstream>
#include <sched.h>
#include <string>

#include <gtest/gtest.h>

namespace tpack {
namespace {

TEST(OwnProcessors, are_those_of_the_affinity_mask) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof mine, &mine);
  const std::vector<int> all = own_processors();
  EXPECT_EQ(all.size(), static_cast<size_t>(CPU_COUNT(&mine)));
  for (const int processor : all) EXPECT_TRUE(CPU_ISSET(static_cast<size_t>(processor), &mine));
}

TEST(Machine, has_no_more_processors_than_the_affinity_mask) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
  EXPECT_GE(available_processors(), 1U);
  EXPECT_LE(available_processors(), static_cast<size_t>(CPU_COUNT(&mine)));
}

TEST(Machine, has_some_memory_and_no_more_than_all) {
  uint64_t all_kilobytes = 0;
  std::string word;
  std::ifstream("/proc/meminfo") >> word >> all_kilobytes;
  ASSERT_EQ(word, "MemTotal:");
  const auto free = available_memory();
  ASSERT_TRUE(free.has_value());
  EXPECT_GT(*free, 0U);
  EXPECT_LE(*free, all_kilobytes * 1024);
}

}  // namespace
}  // namespace tpack
