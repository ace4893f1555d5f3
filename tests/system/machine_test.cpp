#include "system/machine.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sched.h>
#include <string>

#include <gtest/gtest.h>

#include "support/limited_address_space.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

TEST(OwnProcessors, are_those_of_the_affinity_mask) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof mine, &mine);
  const std::vector<int> all = allowed_cpus();
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

TEST(Machine, lets_a_process_map_what_its_own_limit_leaves) {
  const uint64_t kMore = uint64_t{1} << 30U;
  const LimitedAddressSpace limited(kMore);
  if (limited.is_lower()) GTEST_SKIP() << "the limit of this process is lower";
  ASSERT_TRUE(limited.is_set());
  const auto left = mappable_memory();
  ASSERT_TRUE(left);
  EXPECT_LE(*left, kMore);
  EXPECT_GT(*left, kMore / 2);
}

/// A made-up tree of cgroups.
class Cgroups : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  CgroupLimits limits() const { return cgroup_limits(folder_ / "own", folder_ / "fs"); }

  TemporaryFolder folder_;
};

TEST_F(Cgroups, of_version_2_hold_with_those_around_them) {
  write("own", "0::/job/step\n");
  write("fs/job/memory.max", "1000\n");
  write("fs/job/memory.current", "300\n");
  write("fs/job/memory.stat", "anon 150\nactive_file 100\ninactive_file 50\n");
  write("fs/job/step/memory.max", "max\n");
  write("fs/job/step/memory.current", "200\n");
  write("fs/job/cpu.max", "max 100000\n");
  write("fs/job/step/cpu.max", "150000 100000\n");
  write("fs/other/memory.max", "10\n");
  write("fs/other/memory.current", "9\n");
  EXPECT_EQ(limits().memory_left, 1000 - (300 - 100 - 50));
  EXPECT_EQ(limits().processors, 1.5);
  write("fs/job/step/memory.max", "250\n");
  EXPECT_EQ(limits().memory_left, 250 - 200) << "the narrower one";
  write("fs/cpu.max", "100000 100000\n");  // as a container sees its own group
  EXPECT_EQ(limits().processors, 1.0);
}

TEST_F(Cgroups, of_version_1_have_a_tree_for_each_controller) {
  write("own", "9:name=systemd:/\n4:memory:/slurm/job\n1:cpu,cpuacct:/slurm\n0::/\n");
  write("fs/memory/slurm/memory.limit_in_bytes", "1000\n");
  write("fs/memory/slurm/memory.usage_in_bytes", "400\n");
  write("fs/memory/slurm/memory.stat", "inactive_file 1\ntotal_inactive_file 100\ntotal_active_file 0\n");
  write("fs/memory/slurm/job/memory.limit_in_bytes", "9223372036854771712\n");
  write("fs/memory/slurm/job/memory.usage_in_bytes", "400\n");
  write("fs/cpu/slurm/cpu.cfs_quota_us", "200000\n");
  write("fs/cpu/slurm/cpu.cfs_period_us", "100000\n");
  write("fs/cpu/cpu.cfs_quota_us", "-1\n");
  write("fs/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(limits().memory_left, 1000 - (400 - 100));
  EXPECT_EQ(limits().processors, 2.0);
}

TEST_F(Cgroups, limit_nothing_where_the_system_says_nothing) {
  EXPECT_FALSE(limits().memory_left);
  EXPECT_FALSE(limits().processors);
  write("own", "no cgroup\n0::/a:b\n");
  write("fs/a:b/cpu.max", "max 100000\n");
  EXPECT_FALSE(limits().processors);
  write("fs/a:b/cpu.max", "50000 100000\n");
  EXPECT_EQ(limits().processors, 0.5) << "a path may have colons";
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
