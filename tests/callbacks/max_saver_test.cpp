#include <gtest/gtest.h>

#include "support/fake_trainer.h"
#include "support/live_fields.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

TEST(MaxSaver, keeps_the_largest_and_names_the_file_after_it) {
  const TemporaryFolder folder;
  FakeTrainer trainer;
  trainer.figures["group/cost"] = [](int64_t step) { return step == 2 ? 9.0 : step == 3 ? 1.0 : 5.0; };
  TestRun run({.max_epoch = 4, .steps_per_epoch = 1}, trainer);
  run.options.folder = folder.str();
  run.add("MovingAverageSummary", {{"decay", 0}}).add("MaxSaver", {{"monitor", "group/cost"}}).go();
  EXPECT_EQ(load_checkpoint(folder / "checkpoints/max-group-cost.h5").epoch, 2);
}

/// Of a cost, the worst model would be kept.
TEST(MaxSaver, rejects_a_statistic_of_which_lower_values_are_better) {
  FakeTrainer trainer;
  trainer.figures["cost"] = [](int64_t) { return 1.0; };
  TestRun run({.max_epoch = 1, .steps_per_epoch = 1}, trainer);
  run.add("MovingAverageSummary").add("MaxSaver", {{"monitor", "cost"}});
  try {
    run.loop();
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "callback MaxSaver: lower values of 'cost' are better; use MinSaver");
  }
}

const live::Fields kMaxSaverFile("callback", "MaxSaver", {.values = {{"file", "best.h5"}}});

}  // namespace
}  // namespace tpack
