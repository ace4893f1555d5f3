#include "monitor/stat_table.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "support/errors.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

std::vector<StatRecord> earlier() {
  return {{{1, 100}, {{"cost", 3}}}, {{2, 150}, {{"cost", 2}}}, {{2, 200}, {{"cost", 1}}}};
}

TEST(StatTable, keeps_one_record_a_step) {
  StatTable table;
  EXPECT_TRUE(table.put("cost", 1, {1, 10}));
  table.put("error", 2, {1, 10});
  EXPECT_FALSE(table.put("cost", 3, {1, 10}));
  table.put("cost", 4, {1, 20});
  const std::vector<StatRecord> expected = {{{1, 10}, {{"cost", 3}, {"error", 2}}}, {{1, 20}, {{"cost", 4}}}};
  EXPECT_EQ(table.records(), expected);
  EXPECT_EQ(table.names(), (std::vector<std::string>{"cost", "error"}));
}

TEST(StatTable, makes_each_line_once_but_those_that_may_change) {
  StatTable table;
  int made = 0;
  const auto lines = [&] {
    made = 0;
    return table.lines([&](const StatRecord& record) {
      ++made;
      std::string line = std::to_string(record.at.global_step);
      for (const std::string& name : table.names()) {
        for (const auto& [key, value] : record.scalars) {
          if (key == name) line += " " + key + "=" + std::to_string(static_cast<int>(value));
        }
      }
      return line + "; ";
    });
  };
  EXPECT_EQ(lines(), "");
  table.put("cost", 1, {1, 10});
  table.put("cost", 2, {1, 20});
  EXPECT_EQ(lines(), "10 cost=1; 20 cost=2; ");
  table.put("cost", 3, {1, 20});
  EXPECT_EQ(lines(), "10 cost=1; 20 cost=3; ");
  EXPECT_EQ(made, 1);
  table.put("cost", 4, {1, 30});
  EXPECT_EQ(lines(), "10 cost=1; 20 cost=3; 30 cost=4; ");
  EXPECT_EQ(made, 2);
  table.put("error", 5, {1, 30});
  EXPECT_EQ(lines(), "10 cost=1; 20 cost=3; 30 cost=4 error=5; ");
  EXPECT_EQ(made, 3);
}

class BegunTable : public testing::Test {
 protected:
  /// What is logged.
  std::string begin(const RunRecord& run) {
    testing::internal::CaptureStderr();
    const auto read = [](const std::string& path) {
      return content_of(path) == "good" ? std::optional(earlier()) : std::nullopt;
    };
    table_.begin(path_, read, run);
    return testing::internal::GetCapturedStderr();
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "stats.json";
  StatTable table_;
};

TEST_F(BegunTable, has_the_history_of_the_checkpoint_whatever_the_file_has) {
  const RunRecord resumed = {
      .starting_epoch = 2, .global_step = 150, .resumed = true, .history = {{{1, 150}, {{"cost", 7}}}}};
  EXPECT_EQ(begin(resumed), "");
  EXPECT_EQ(table_.records(), resumed.history);
  write_content(path_, "good");
  EXPECT_EQ(begin(resumed), "");
  EXPECT_EQ(table_.records(), resumed.history);
  EXPECT_EQ(folder_.names().size(), 1U);
}

TEST_F(BegunTable, continues_if_the_run_begins_after_the_last_epoch) {
  write_content(path_, "good");
  EXPECT_EQ(begin({.starting_epoch = 3}), "");
  EXPECT_EQ(table_.records(), earlier());
}

TEST_F(BegunTable, does_not_mix_two_runs) {
  write_content(path_, "good");
  EXPECT_EQ(begin({.starting_epoch = 1}), "");
  EXPECT_TRUE(table_.records().empty());
  ASSERT_EQ(folder_.names().size(), 1U);
  EXPECT_NE(folder_ / folder_.names()[0], path_);
}

TEST_F(BegunTable, keeps_a_damaged_file_and_says_so) {
  write_content(path_, "bad");
  const std::string said = begin({.starting_epoch = 2, .global_step = 200, .resumed = true});
  ASSERT_EQ(folder_.names().size(), 1U);
  const std::string kept = folder_ / folder_.names()[0];
  EXPECT_NE(kept, path_);
  EXPECT_EQ(content_of(kept), "bad");
  EXPECT_TRUE(says(said, {path_ + " is damaged or not a file of statistics; it is kept as " + kept}));
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
