#include "checkpoint/retention.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "checkpoint/sample.h"
#include "core/error.h"
#include "support/temporary_folder.h"
#include "system/log.h"

namespace tpack {
namespace {

using testing::ElementsAre;

class Retention : public testing::Test {
 protected:
  Retention() { log::set_level(log::Level::kOff); }
  ~Retention() override { log::set_level(log::Level::kInfo); }
  void save(int64_t step) const { save_checkpoint(folder_ / checkpoint_name(step), sample_content()); }
  std::vector<int64_t> steps() const {
    std::vector<int64_t> all;
    for (const CheckpointFile& file : list_checkpoints(folder_.str())) all.push_back(file.step);
    return all;
  }

  TemporaryFolder folder_;
};

TEST_F(Retention, lists_by_number_and_not_by_text) {
  for (const char* name : {"model-9.h5", "model-100.h5", "model-20.h5", "max-accuracy.h5", "model-x.h5",
                           "model-5.h5.tmp.77", "model--5.h5", "model-.h5"}) {
    write_content(folder_ / name, "");
  }
  EXPECT_THAT(steps(), ElementsAre(100, 20, 9));
  EXPECT_TRUE(list_checkpoints("/no/such/folder").empty());
}

TEST_F(Retention, takes_the_newest_that_is_not_damaged) {
  EXPECT_FALSE(newest_valid_checkpoint(folder_.str()).has_value());
  save(5);
  save(10);
  write_content(folder_ / "model-15.h5", "half");
  EXPECT_EQ(newest_valid_checkpoint(folder_.str())->step, 10);
}

TEST_F(Retention, names_every_checkpoint_if_all_are_damaged) {
  write_content(folder_ / "model-5.h5", "");
  write_content(folder_ / "model-10.h5", "\x01\x02");
  try {
    newest_valid_checkpoint(folder_.str());
    FAIL() << "no error";
  } catch (const CheckpointError& error) {
    EXPECT_EQ(error.what(), folder_.str() + ": none of the checkpoints can be read:\n  " +
                                (folder_ / "model-10.h5") + ": is not a tpack checkpoint\n  " +
                                (folder_ / "model-5.h5") +
                                ": is truncated: it has 0 bytes, its header alone has 512");
  }
}

TEST_F(Retention, keeps_the_newest) {
  for (const int64_t step : {5, 10, 100, 20}) save(step);
  remove_old_checkpoints(folder_.str(), 2, 100);
  EXPECT_THAT(steps(), ElementsAre(100, 20));
  remove_old_checkpoints(folder_.str(), 5, 100);
  EXPECT_THAT(steps(), ElementsAre(100, 20));
  remove_old_checkpoints(folder_.str(), 1, 20);  // 100 is from an earlier run; 20 is the newest of this one
  EXPECT_THAT(steps(), ElementsAre(100, 20));
}

TEST_F(Retention, takes_away_only_what_a_save_left_behind) {
  for (const char* name : {"model-5.h5.tmp.77", "model-5.h5", "notes.tmp"}) write_content(folder_ / name, "");
  remove_unfinished_files(folder_.str());
  EXPECT_THAT(folder_.names(), ElementsAre("model-5.h5", "notes.tmp"));
}

}  // namespace
}  // namespace tpack
