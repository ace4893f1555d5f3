#include <gtest/gtest.h>

#include "support/fake_trainer.h"
#include "support/live_fields.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

TEST(MinSaver, keeps_the_smallest_and_names_the_file_after_it) {
  const TemporaryFolder folder;
  FakeRun run({.max_epoch = 4, .steps_per_epoch = 1}, folder.str());
  run.trainer.figures["group/cost"] = [](int64_t step) { return step == 2 ? 9.0 : step == 3 ? 1.0 : 5.0; };
  run.add("MovingAverageSummary", {{"decay", 0}}).add("MinSaver", {{"monitor", "group/cost"}}).go();
  EXPECT_EQ(load_checkpoint(folder / "checkpoints/min-group-cost.h5").epoch, 3);
}

const live::Fields kMinSaverFile("callback", "MinSaver", {.values = {{"file", "best.h5"}}});

}  // namespace
}  // namespace tpack
