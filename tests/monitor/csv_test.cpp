#include <cmath>

#include <gtest/gtest.h>

#include "core/registry.h"
#include "monitor/monitor.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

std::unique_ptr<Monitor> csv(const RunRecord& run) {
  auto made = Registry<Monitor>::make("CSV");
  made->open(run);
  return made;
}

TEST(Csv, has_a_row_a_step_and_a_column_a_scalar) {
  const TemporaryFolder folder;
  const auto monitor = csv({.folder = folder.str()});
  monitor->put_scalar("cost", 0.5, {1, 10});
  monitor->put_scalar("cost", 0.25, {1, 20});
  monitor->put_scalar("validation, \"top 1\"", NAN, {1, 20});
  monitor->end_epoch({1, 20});
  EXPECT_EQ(content_of(folder / "stats.csv"),
            "epoch_num,global_step,cost,\"validation, \"\"top 1\"\"\"\n1,10,0.5,\n1,20,0.25,nan\n");
}

TEST(Csv, gives_earlier_rows_the_columns_that_come_later) {
  const TemporaryFolder folder;
  const auto monitor = csv({.folder = folder.str()});
  monitor->put_scalar("cost", 2, {1, 10});
  monitor->put_scalar("cost", 1, {2, 20});
  monitor->end_epoch({2, 20});
  monitor->put_scalar("error", 5, {3, 30});
  monitor->end_epoch({3, 30});
  EXPECT_EQ(content_of(folder / "stats.csv"),
            "epoch_num,global_step,cost,error\n1,10,2,\n2,20,1,\n3,30,,5\n");
}

TEST(Csv, reads_its_own_file_to_go_on) {
  const TemporaryFolder folder;
  {
    const auto monitor = csv({.folder = folder.str()});
    monitor->put_scalar("a \"b\",c", 1.0 / 3, {1, 1});
    monitor->put_scalar("x", -INFINITY, {1, 2});
    monitor->end_epoch({1, 2});
  }
  const auto monitor = csv({.folder = folder.str(), .starting_epoch = 2});
  monitor->put_scalar("y", 4, {2, 3});
  monitor->close();
  EXPECT_EQ(content_of(folder / "stats.csv"),
            "epoch_num,global_step,\"a \"\"b\"\",c\",x,y\n1,1,0.3333333333333333,,\n1,2,,-inf,\n2,3,,,4\n");
}

TEST(Csv, has_the_history_of_the_checkpoint_that_a_run_resumes) {
  const TemporaryFolder folder;
  write_content(folder / "stats.csv", "epoch_num,global_step,cost\n1,10,5\n2,20,4\n");
  csv({.folder = folder.str(), .global_step = 10, .resumed = true, .history = {{{1, 10}, {{"cost", 0.5}}}}})
      ->close();
  EXPECT_EQ(content_of(folder / "stats.csv"), "epoch_num,global_step,cost\n1,10,0.5\n");
}

TEST(Csv, moves_a_file_of_another_run_or_a_damaged_one_away_rather_than_lose_its_rows) {
  const TemporaryFolder other;
  write_content(other / "stats.csv", "something,else\n1,2\n");
  csv({.folder = other.str()})->close();
  EXPECT_EQ(other.names().size(), 2U);
  EXPECT_EQ(content_of(other / "stats.csv"), "epoch_num,global_step\n");
  const std::string header = "epoch_num,global_step,cost\n";
  for (const char* rows :
       {"1,10,0.5\n1,20,0.2", "1,10,0.5\n1,20\n", "1,10,half\n", "x,10,0.5\n", "1,,0.5\n"}) {
    const TemporaryFolder folder;
    write_content(folder / "stats.csv", header + rows);
    csv({.folder = folder.str(), .starting_epoch = 2, .global_step = 20, .resumed = true})->close();
    EXPECT_EQ(folder.names().size(), 2U) << rows;
  }
}

}  // namespace
}  // namespace tpack
