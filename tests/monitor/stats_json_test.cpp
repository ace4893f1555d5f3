#include "monitor/stats_json.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace tpack {
namespace {

TEST(StatsJson, is_read_back_with_missing_numbers_as_nan) {
  const TemporaryFolder folder;
  const std::vector<StatRecord> records = {{{1, 10}, {{"cost", 0.5}, {"accuracy", 1}}},
                                           {{2, 20}, {{"cost", std::numeric_limits<double>::infinity()}}}};
  StatTable table(records);
  write_content(folder / kStatsFile, stats_json(table));
  EXPECT_EQ(content_of(folder / kStatsFile),
            "[\n{\"cost\":0.5,\"accuracy\":1.0,\"epoch_num\":1,\"global_step\":10},\n"
            "{\"cost\":null,\"epoch_num\":2,\"global_step\":20}\n]\n");
  const auto read = read_stats_json(folder / kStatsFile);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ((*read)[0], records[0]);
  EXPECT_TRUE(std::isnan((*read)[1].scalars[0].second));
}

TEST(StatsJson, of_no_records_is_an_empty_list) {
  StatTable table;
  EXPECT_EQ(stats_json(table), "[\n]\n");
}

TEST(StatsJson, of_another_form_is_not_read) {
  const TemporaryFolder folder;
  for (const char* text : {"", "[", "{}", "[1]", "[{\"cost\": \"x\"}]"}) {
    write_content(folder / kStatsFile, text);
    EXPECT_FALSE(read_stats_json(folder / kStatsFile)) << text;
  }
  EXPECT_FALSE(read_stats_json(folder / "nothing"));
}

}  // namespace
}  // namespace tpack
