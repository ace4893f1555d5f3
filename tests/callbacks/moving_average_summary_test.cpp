#include <gmock/gmock-matchers.h>

#include "support/fake_trainer.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::Pair;

/// A trainer with cost 1 / step.
struct Training {
  Training() {
    trainer.figures["cost"] = [](int64_t step) { return 1.0 / static_cast<double>(step); };
    trainer.figures["accuracy"] = [](int64_t /*step*/) { return 0.5; };
  }
  FakeTrainer trainer;
};

TEST(MovingAverageSummary, gives_all_statistics_at_the_last_step_of_each_epoch) {
  Training training;
  TestRun run({.max_epoch = 2, .steps_per_epoch = 2}, training.trainer);
  run.add("MovingAverageSummary", {{"decay", 0.5}}).go();
  const double after2 = (0.5 * 1 + 1.0 / 2) / 1.5;
  const double after4 = (0.125 * 1 + 0.25 / 2 + 0.5 / 3 + 1.0 / 4) / 1.875;
  EXPECT_THAT(run.monitors.get_history("cost"),
              ElementsAre(Pair(2, testing::DoubleEq(after2)), Pair(4, testing::DoubleEq(after4))));
  EXPECT_THAT(run.values("accuracy"), ElementsAre(testing::DoubleEq(0.5), testing::DoubleEq(0.5)));
}

TEST(MovingAverageSummary, gives_means_over_a_longer_time_as_they_are) {
  Training training;
  training.trainer.means = {"cost"};
  TestRun run({.max_epoch = 2, .steps_per_epoch = 2}, training.trainer);
  run.add("MovingAverageSummary").go();
  EXPECT_THAT(run.values("cost"), ElementsAre(1.0 / 2, 1.0 / 4));
}

TEST(MovingAverageSummary, is_there_for_a_callback_that_comes_first_in_the_list) {
  Training training;
  const TemporaryFolder folder;
  TestRun run({.max_epoch = 1, .steps_per_epoch = 2}, training.trainer, folder.str());
  run.add("MinSaver", {{"monitor", "cost"}}).add("MovingAverageSummary").go();
  EXPECT_TRUE(std::filesystem::exists(folder / "checkpoints/min-cost.h5"));
}

TEST(MovingAverageSummary, continues_from_a_checkpoint) {
  const TemporaryFolder folder;
  const RunLength length{.max_epoch = 4, .steps_per_epoch = 3};
  Training whole;
  TestRun whole_run(length, whole.trainer);
  whole_run.add("MovingAverageSummary").go();
  {
    Training first;
    TestRun run({.max_epoch = 2, .steps_per_epoch = 3}, first.trainer, folder.str());
    run.add("MovingAverageSummary").add("ModelSaver").go();
  }
  Training second;
  TestRun run(length, second.trainer);
  run.add("MovingAverageSummary").go_on_from(folder / "checkpoints/model-6.h5");
  EXPECT_EQ(run.monitors.get_history("cost"), whole_run.monitors.get_history("cost"));
}

TEST(MovingAverageSummary, rejects_a_decay_that_forgets_nothing) {
  EXPECT_THROW(Registry<Callback>::make("MovingAverageSummary", {{"decay", 1}}), ConfigError);
}

}  // namespace
}  // namespace tpack
