#include "backend/engine/timing_cache.h"

#include <cmath>
#include <filesystem>
#include <limits>
#include <regex>

#include <gtest/gtest.h>

#include "cpu/library.h"
#include "support/temporary_folder.h"

namespace tpack::cpu {
namespace {

TEST(TimingCache, keeps_timings_in_a_file) {
  const TemporaryFolder folder;
  TimingCache first(folder.str(), "some hardware", "1.2");
  first.put("a way", {0.25, 64});
  first.put("a busy way", {0.5, 0, true});
  first.put("a way that this CPU lacks", {std::numeric_limits<double>::infinity(), 0});
  first.save();
  const TimingCache second(folder.str(), "some hardware", "1.2");
  ASSERT_NE(second.find("a way"), nullptr);
  EXPECT_EQ(second.find("a way")->seconds, 0.25);
  EXPECT_EQ(second.find("a way")->scratch_bytes, 64U);
  EXPECT_FALSE(second.find("a way")->disturbed);
  EXPECT_EQ(second.find("a busy way")->seconds, 0.5);
  EXPECT_TRUE(second.find("a busy way")->disturbed);
  EXPECT_TRUE(std::isinf(second.find("a way that this CPU lacks")->seconds));
  EXPECT_EQ(second.find("another way"), nullptr);
}

TEST(TimingCache, keeps_what_other_processes_wrote_meanwhile) {
  const TemporaryFolder folder;
  TimingCache first(folder.str(), "some hardware", "1.2");
  TimingCache second(folder.str(), "some hardware", "1.2");
  first.put("of the first", {1, 0});
  first.save();
  second.put("of the second", {2, 0});
  second.save();
  const TimingCache later(folder.str(), "some hardware", "1.2");
  EXPECT_NE(later.find("of the first"), nullptr);
  EXPECT_NE(later.find("of the second"), nullptr);
}

TEST(TimingCache, takes_no_timings_of_another_version) {
  const TemporaryFolder folder;
  TimingCache cache(folder.str(), "some hardware", "1.2");
  cache.put("a way", {0.5, 0});
  cache.save();
  const std::string path = std::filesystem::directory_iterator(folder.str())->path();
  EXPECT_EQ(path, cache.path());
  const std::string written = content_of(path);
  const std::string header = written.substr(0, written.find('\n'));
  EXPECT_EQ(header, "1.2");
  write_content(path, header + "\n12345 0 a way\nno timing\n");
  ASSERT_NE(TimingCache(folder.str(), "some hardware", "1.2").find("a way"), nullptr);
  EXPECT_EQ(TimingCache(folder.str(), "some hardware", "1.2").find("a way")->seconds, 12345);
  write_content(path, "1.1\n12345 0 a way\n");
  EXPECT_EQ(TimingCache(folder.str(), "some hardware", "1.2").find("a way"), nullptr);
}

TEST(CpuLibrary, names_vendor_model_and_instruction_set) {
  const std::regex form("(\\w+) [0-9]+/[0-9]+/[0-9]+ [A-Z0-9_]+");
  std::smatch parts;
  const auto library = make_library();
  const std::string name = library->hardware();
  ASSERT_TRUE(std::regex_match(name, parts, form)) << name;
  EXPECT_NE(content_of("/proc/cpuinfo").find(": " + parts[1].str() + "\n"), std::string::npos) << name;
  EXPECT_TRUE(std::regex_match(library->version(), std::regex("tpack [0-9.]+ oneDNN [0-9.]+")))
      << library->version();
}

}  // namespace
}  // namespace tpack::cpu
