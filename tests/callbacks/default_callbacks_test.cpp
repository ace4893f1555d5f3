#include "callbacks/default_callbacks.h"

#include <gtest/gtest.h>

#include "support/fake_trainer.h"

namespace tpack {
namespace {

TEST(DefaultCallbacks, run_as_they_are) {
  FakeRun run({.max_epoch = 2, .steps_per_epoch = 3});
  run.trainer.figures["cost"] = [](int64_t) { return 1.0; };
  const ConfigNode list = default_callbacks();
  for (const ConfigNode& item : list.items()) run.add(item.text(), Registry<Callback>::make_item(item));
  EXPECT_EQ(run.go().ending, StopReason::kFinished);
  EXPECT_EQ(run.values("cost").size(), 2U);
  EXPECT_EQ(run.values("learning_rate").size(), 2U);
  EXPECT_EQ(run.values("samples_per_s").size(), 2U);
}

}  // namespace
}  // namespace tpack
