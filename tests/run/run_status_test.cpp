#include "run/run_status.h"

#include <gtest/gtest.h>

#include "core/clock.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

class RunStatusTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const { write_content(folder_ / name, text); }
  /// Two epochs of 10 steps at 5 steps per second.
  void write_two_epochs() const {
    write("stats.json", R"([{"cost": 2, "steps_per_s": 4, "epoch_num": 1, "global_step": 10},
                            {"cost": 1, "steps_per_s": 5, "samples_per_s": 160, "epoch_num": 2, "global_step": 20}])");
    write("log.txt", "[1123 12:00:00] run folder x\n[1123 12:00:01] warning: slow\n\n");
    write("config.yaml", "tpack: 1\nmax_epoch: 12\n");
  }

  TemporaryFolder folder_;
  RunWatch watch_{folder_.str()};
};

TEST_F(RunStatusTest, of_a_run_that_trains) {
  write_two_epochs();
  watch_.refresh(wall_time_s());
  const RunStatus& status = watch_.status();
  EXPECT_EQ(status.state, RunStatus::State::kRunning);
  EXPECT_EQ(status.epoch, 2);
  EXPECT_EQ(status.max_epoch, 12);
  EXPECT_EQ(status.global_step, 20);
  EXPECT_EQ(status.samples_per_s, 160);
  EXPECT_EQ(status.message, "warning: slow");
  ASSERT_TRUE(status.seconds_left);
  EXPECT_LE(*status.seconds_left, 20);  // 10 epochs of 2 seconds
  EXPECT_EQ(watch_.records().size(), 2U);
  watch_.refresh(wall_time_s() + 15);
  EXPECT_LE(*watch_.status().seconds_left, 5);
  EXPECT_GE(*watch_.status().seconds_left, 0);
}

TEST_F(RunStatusTest, is_stalled_if_nothing_is_written_for_long) {
  write_two_epochs();
  const double now = wall_time_s();
  watch_.refresh(now + 100);
  EXPECT_EQ(watch_.status().state, RunStatus::State::kRunning);
  watch_.refresh(now + 130);
  EXPECT_EQ(watch_.status().state, RunStatus::State::kStalled);
  EXPECT_FALSE(watch_.status().seconds_left);
  write("stats.json", R"([{"steps_per_s": 0.1, "epoch_num": 1, "global_step": 10}])");
  watch_.refresh(now + 200);
  EXPECT_EQ(watch_.status().state, RunStatus::State::kRunning) << "an epoch takes 100 seconds";
}

TEST_F(RunStatusTest, has_ended_as_exit_json_says) {
  write_two_epochs();
  const auto state_after = [&](int code) {
    write("exit.json", "{\"exit_code\": " + std::to_string(code) + ", \"reason\": \"" +
                           std::string(static_cast<size_t>(code % 7) + 1, 'x') + "\\nmore\"}");
    watch_.refresh(wall_time_s() + 1e6);
    return watch_.status().state;
  };
  EXPECT_EQ(state_after(0), RunStatus::State::kFinished);
  EXPECT_EQ(watch_.status().message, "warning: slow");
  EXPECT_EQ(state_after(143), RunStatus::State::kInterrupted);
  EXPECT_EQ(state_after(6), RunStatus::State::kFailed);
  EXPECT_EQ(watch_.status().message, "xxxxxxx");
  write("exit.json", R"({"exit_code": 0, "reason": "", "is_paused": true})");
  watch_.refresh(wall_time_s());
  EXPECT_EQ(watch_.status().state, RunStatus::State::kPaused);
  write("exit.json", R"({"exit_code": 6, "reason": null})");
  watch_.refresh(wall_time_s());
  EXPECT_EQ(watch_.status().state, RunStatus::State::kFailed);
  std::filesystem::remove(folder_ / "exit.json");  // it is resumed
  watch_.refresh(wall_time_s());
  EXPECT_EQ(watch_.status().state, RunStatus::State::kRunning);
}

TEST_F(RunStatusTest, of_a_folder_without_anything_it_could_read) {
  write("stats.json", "[{");
  write("config.yaml", "max_epoch: 99999\n");
  write("exit.json", "{");
  watch_.refresh(wall_time_s());
  EXPECT_EQ(watch_.status().state, RunStatus::State::kRunning);
  EXPECT_EQ(watch_.status().epoch, 0);
  EXPECT_FALSE(watch_.status().max_epoch) << "the default is no limit";
}

}  // namespace
}  // namespace tpack
