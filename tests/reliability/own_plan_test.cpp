// A run that measures its own plan, and whose passes end with smaller batches, is interrupted before it has
// met all of its batch sizes; it ends like a run with the same plan that was never interrupted.
#include <csignal>
#include <fstream>

#include "checkpoint/retention.h"
#include "comparison.h"
#include "random_moment.h"
#include "training.h"

namespace tpack::reliability {
namespace {

constexpr int64_t kStepsBeforeTheRemainder = 40;

class OwnPlan : public Training {
 protected:
  OwnPlan() { config_ = source_folder() + "/tests/reliability/remainder-convnet.yaml"; }

  std::string plan_of(const std::string& path) const { return load_checkpoint(path).texts.at("plan/json"); }

  void survives(int signal) {
    {
      Process process(words("stopped", {"--resume", "auto"}), folder_ / "out");
      ASSERT_TRUE(wait_for_saves(process, 1, 0)) << process.err();
      process.signal(signal);
      ASSERT_EQ(process.wait(), 128 + signal) << process.err();
    }
    const auto newest = newest_valid_checkpoint(checkpoints("stopped"));
    ASSERT_TRUE(newest);
    ASSERT_LT(newest->step, kStepsBeforeTheRemainder) << "stopped too late to show anything";
    const std::string plan = plan_of(newest->path);
    train_well("stopped", {"--resume", "auto"});
    EXPECT_EQ(plan_of(checkpoint(100, "stopped")), plan) << "something was chosen late";
    const std::string file = folder_ / "plan.json";
    std::ofstream(file) << plan;
    train_well("straight", {"--plan", file});
    expect_same_checkpoint(checkpoint(100, "straight"), checkpoint(100, "stopped"));
    expect_same_statistics(run_folder("straight"), run_folder("stopped"));
  }
};

TEST_F(OwnPlan, is_whole_before_a_run_can_be_stopped) { survives(SIGTERM); }

TEST_F(OwnPlan, is_whole_before_a_run_can_be_killed) { survives(SIGKILL); }

}  // namespace
}  // namespace tpack::reliability
