#include <cmath>

#include <gtest/gtest.h>

#include "support/errors.h"
#include "support/fake_trainer.h"
#include "support/live_fields.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

TEST(MaxSaver, keeps_the_largest_and_names_the_file_after_it_or_as_it_says) {
  const TemporaryFolder folder;
  FakeRun run({.max_epoch = 4, .steps_per_epoch = 1}, folder.str());
  run.trainer.figures["group/cost"] = [](int64_t step) { return step == 2 ? 9.0 : step == 3 ? 1.0 : 5.0; };
  run.add("MovingAverageSummary", {{"decay", 0}}).add("MaxSaver", {{"monitor", "group/cost"}});
  run.add("MaxSaver", {{"monitor", "group/cost"}, {"file", "best.h5"}}).go();
  for (const char* file : {"max-group-cost.h5", "best.h5"})
    EXPECT_EQ(load_checkpoint(folder / ("checkpoints/" + std::string(file))).epoch, 2);
}

/// Gives a scalar after each step, largest at step 11.
class GiveEachStep final : public Callback {
 public:
  void setup(Setup& setup) override { setup.provides("x", ScalarOrder::When::kRun, {}); }
  void after_run(Run& run) override {
    run.monitors().put_scalar("x", -std::abs(static_cast<double>(run.global_step() - 11)));
  }
};

/// A file may still be written when the next value comes.
TEST(MaxSaver, keeps_the_largest_of_many_steps) {
  const TemporaryFolder folder;
  FakeRun run({.max_epoch = 1, .steps_per_epoch = 30}, folder.str());
  run.add("give", std::make_unique<GiveEachStep>());
  run.add("MaxSaver", ConfigNode::map({{"monitor", "x"}, {"every", ConfigNode::map({{"steps", 1}})}})).go();
  EXPECT_EQ(load_checkpoint(folder / "checkpoints/max-x.h5").step, 11);
}

/// Of a cost, the worst model would be kept.
TEST(MaxSaver, rejects_a_statistic_of_which_lower_values_are_better) {
  FakeRun run({.max_epoch = 1, .steps_per_epoch = 1});
  run.trainer.figures["cost"] = [](int64_t) { return 1.0; };
  run.add("MovingAverageSummary").add("MaxSaver", {{"monitor", "cost"}});
  EXPECT_TRUE(says(error_from([&] { run.loop(); }), {"MaxSaver: lower values of 'cost'", "use MinSaver"}));
}

const live::Fields kMaxSaverFile("callback", "MaxSaver", {.values = {{"file", "best.h5"}}});

}  // namespace
}  // namespace tpack
