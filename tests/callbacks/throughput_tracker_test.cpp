#include <gmock/gmock-more-matchers.h>

#include "core/clock.h"
#include "support/fake_trainer.h"

namespace tpack {
namespace {

/// Lets 20 ms pass.
void spend_time() {
  const Stopwatch watch;
  while (watch.seconds() < 0.02) {
  }
}

TEST(ThroughputTracker, counts_steps_and_samples_of_all_replicas_inside_epochs_only) {
  FakeRun run({.max_epoch = 2, .steps_per_epoch = 3});
  run.trainer.size = {.batch = 4, .towers = 2, .ranks = 3};
  run.trainer.on_step = [&](int64_t /*step*/) {
    spend_time();
    run.trainer.waited += 0.01;  // of the two towers together
  };
  const auto slow_trigger = [](tpack::Run& /*run*/) {
    for (int i = 0; i < 20; ++i) spend_time();
  };
  run.on_trigger("slow", slow_trigger).add("ThroughputTracker").go();
  const std::vector<double> steps = run.values("steps_per_s");
  ASSERT_EQ(steps.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_LE(steps[i], 50);                // a step takes 20 ms at least
    EXPECT_GT(steps[i], 3 / (0.06 + 0.4));  // the trigger's 400 ms are not in it
    EXPECT_DOUBLE_EQ(run.values("samples_per_s")[i], 24 * steps[i]);
    EXPECT_NEAR(run.values("data_wait_time_share")[i], 0.01 * steps[i] / 2, 1e-9);
  }
}

TEST(ThroughputTracker, gives_the_fill_of_the_queue_if_there_is_one) {
  FakeRun run({.max_epoch = 2, .steps_per_epoch = 1});
  run.trainer.queue.emplace();
  run.trainer.on_step = [&](int64_t /*step*/) { run.trainer.queue->stats.fill += 0.75; };
  run.add("ThroughputTracker").go();
  EXPECT_THAT(run.values("input_queue_fill"), testing::ElementsAre(0.75, 1.5));
}

TEST(ThroughputTracker, gives_nothing_for_epochs_without_steps_and_no_samples_if_there_are_none) {
  FakeRun none({.max_epoch = 2, .steps_per_epoch = 0});
  none.add("ThroughputTracker").go();
  EXPECT_THAT(none.monitors.names(), testing::IsEmpty());
  FakeRun steps({.max_epoch = 1, .steps_per_epoch = 2});
  steps.trainer.size.batch = 0;
  steps.add("ThroughputTracker").go();
  EXPECT_THAT(steps.monitors.names(), testing::ElementsAre("steps_per_s"));
}

}  // namespace
}  // namespace tpack
