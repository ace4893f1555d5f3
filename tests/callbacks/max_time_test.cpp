#include <gmock/gmock-matchers.h>

#include "callbacks/callback_scenes.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::HasSubstr;

/// How a run of 50 epochs of 4 steps ends.
LoopResult timed_run(const std::string& item, const TemporaryFolder& folder) {
  FakeRun run({.max_epoch = 50, .steps_per_epoch = 4}, folder.str());
  run.add("max_time", callback_of(item)).add("ModelSaver");
  return run.go();
}

TEST(MaxTime, ends_a_run_after_a_step_and_saves) {
  const TemporaryFolder folder;
  const LoopResult result = timed_run("MaxTime: 1.0e-9", folder);
  EXPECT_EQ(result.ending, StopReason::kStopped);
  EXPECT_EQ(result.global_step, 1);
  EXPECT_THAT(result.reason, HasSubstr("the time is up"));
  EXPECT_TRUE(std::filesystem::exists(folder / "checkpoints/model-1.h5"));
}

TEST(MaxTime, does_nothing_before) {
  const TemporaryFolder folder;
  EXPECT_EQ(timed_run("MaxTime: 1d2h", folder).global_step, 200);
}

TEST(MaxTime, is_written_as_people_write_times) {
  const auto seconds = [](const std::string& text) {
    Diagnostics errors;
    const ConfigNode item = effective_item("callback", parse_yaml("{MaxTime: " + text + "}", "t.yaml"));
    return item.entries()[0].value.find("time")->as_double();
  };
  EXPECT_EQ(seconds("90"), 90);
  EXPECT_EQ(seconds("30s"), 30);
  EXPECT_EQ(seconds("1h30m"), 5400);
  EXPECT_EQ(seconds("1.5h"), 5400);
  EXPECT_EQ(seconds("2d"), 172800);
  for (const char* bad : {"0", "-5", "30x", "m", "30m1h", "30m5", "inf", "[1]"})
    EXPECT_THROW(callback_of("MaxTime: " + std::string(bad)), ConfigError) << bad;
}

const live::Fields kMaxTime("callback", "MaxTime", {.base = "{time: 1d}", .values = {{"time", "1.0e-9"}}});

}  // namespace
}  // namespace tpack
