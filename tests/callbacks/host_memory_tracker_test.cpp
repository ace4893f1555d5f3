#include <gtest/gtest.h>

#include "support/fake_trainer.h"
#include "system/machine.h"

namespace tpack {
namespace {

TEST(HostMemoryTracker, reports_memory_in_gigabytes) {
  FakeRun run({.max_epoch = 1, .steps_per_epoch = 1});
  run.add("HostMemoryTracker").go();
  const double own = run.values("resident_memory_gb").at(0) * 1e9;
  EXPECT_NEAR(own, static_cast<double>(resident_memory()), 0.2 * own + 1e8);
  ASSERT_TRUE(available_memory()) << "the kernel says it here";
  EXPECT_GT(run.values("host_free_memory_gb").at(0) * 1e9, 1e6);
}

TEST(HostMemoryTracker, runs_on_every_rank) {
  EXPECT_FALSE(Registry<Callback>::make("HostMemoryTracker")->is_for_chief());
}

}  // namespace
}  // namespace tpack
