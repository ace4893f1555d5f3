#include "core/machine.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
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

/// The kernel's flags of the mapping that contains `address`.
std::string flags_of_mapping(uintptr_t address) {
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) inside = begin <= address && address < end;
    if (inside && line.starts_with("VmFlags:")) return line + " ";
  }
  return "";
}

TEST(Machine, is_asked_for_large_pages_only_inside_of_the_memory) {
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage")) {
    GTEST_SKIP() << "this kernel has no transparent large pages";
  }
  constexpr size_t kLarge = size_t{2} << 20U;
  const std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(kLarge, 4 * kLarge), std::free);
  auto* const bytes = static_cast<char*>(memory.get());
  prefer_large_pages(bytes + 1, 3 * kLarge);  // large pages 1 and 2 of 0 to 3
  const auto advised = [&](size_t page) {
    return flags_of_mapping(reinterpret_cast<uintptr_t>(bytes + page * kLarge)).find(" hg ") !=
           std::string::npos;
  };
  EXPECT_FALSE(advised(0));
  EXPECT_TRUE(advised(1));
  EXPECT_TRUE(advised(2));
  EXPECT_FALSE(advised(3));
  prefer_large_pages(bytes + 3 * kLarge + 1, kLarge - 1);  // has none inside
  EXPECT_FALSE(advised(3));
}

}  // namespace
}  // namespace tpack
