#include "monitor/stat_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace tpack {
namespace {

std::vector<StatRecord> earlier() {
  return {{{1, 100}, {{"cost", 3}}}, {{2, 150}, {{"cost", 2}}}, {{2, 200}, {{"cost", 1}}}};
}

TEST(StatTable, keeps_one_record_a_step) {
  StatTable table;
  table.put("cost", 1, {1, 10});
  table.put("error", 2, {1, 10});
  table.put("cost", 3, {1, 10});
  table.put("cost", 4, {1, 20});
  const std::vector<StatRecord> expected = {{{1, 10}, {{"cost", 3}, {"error", 2}}}, {{1, 20}, {{"cost", 4}}}};
  EXPECT_EQ(table.records(), expected);
  EXPECT_EQ(table.names(), (std::vector<std::string>{"cost", "error"}));
}

TEST(StatTable, forgets_what_a_resumed_run_will_repeat) {
  StatTable table;
  EXPECT_TRUE(
      table.take_over(earlier(), {.folder = "", .starting_epoch = 2, .global_step = 150, .resumed = true}));
  ASSERT_EQ(table.records().size(), 2U);
  EXPECT_EQ(table.records().back().at, (Moment{2, 150}));
}

TEST(StatTable, goes_on_where_the_run_begins_behind_the_last_epoch) {
  StatTable table;
  EXPECT_TRUE(table.take_over(earlier(), {.folder = "", .starting_epoch = 3}));
  EXPECT_EQ(table.records().size(), 3U);
}

TEST(StatTable, does_not_mix_two_runs) {
  StatTable table;
  EXPECT_FALSE(table.take_over(earlier(), {.folder = "", .starting_epoch = 1}));
  EXPECT_TRUE(table.records().empty());
  EXPECT_TRUE(table.take_over({}, {.folder = "", .starting_epoch = 1}));
}

class TakeOverFile : public testing::Test {
 protected:
  /// What is logged.
  std::string take_over(const RunRecord& run) {
    testing::internal::CaptureStderr();
    const auto read = [](const std::string& path) {
      return content_of(path) == "good" ? std::optional(earlier()) : std::nullopt;
    };
    table_.take_over_file(path_, read, run);
    return testing::internal::GetCapturedStderr();
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "stats.json";
  StatTable table_;
};

TEST_F(TakeOverFile, goes_on_with_the_file_of_a_resumed_run) {
  write_content(path_, "good");
  EXPECT_EQ(take_over({.starting_epoch = 2, .global_step = 200, .resumed = true}), "");
  EXPECT_EQ(table_.records(), earlier());
}

TEST_F(TakeOverFile, keeps_a_damaged_file_and_says_so) {
  write_content(path_, "bad");
  const std::string said = take_over({.starting_epoch = 2, .global_step = 200, .resumed = true});
  ASSERT_EQ(folder_.names().size(), 1U);
  const std::string kept = folder_ / folder_.names()[0];
  EXPECT_NE(kept, path_);
  EXPECT_EQ(content_of(kept), "bad");
  EXPECT_THAT(said, testing::HasSubstr(path_ + " is damaged or of something else; it is kept as " + kept));
}

TEST_F(TakeOverFile, says_that_the_file_of_a_resumed_run_is_gone) {
  EXPECT_THAT(take_over({.starting_epoch = 2, .global_step = 200, .resumed = true}),
              testing::HasSubstr(path_ + " is gone; the new one begins behind step 200"));
  EXPECT_EQ(take_over({}), "");
}

TEST(MoveAway, keeps_the_old_file_under_a_stamped_name) {
  const TemporaryFolder folder;
  write_content(folder / "stats.json", "old");
  move_away(folder / "stats.json");
  ASSERT_EQ(folder.names().size(), 1U);
  EXPECT_THAT(folder.names()[0], testing::MatchesRegex("stats.json.[0-9]{4}-[0-9]{6}"));
}

}  // namespace
}  // namespace tpack
