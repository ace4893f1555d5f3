// A run that is killed at random moments, many times, ends like one that was never killed.
#include <csignal>
#include <filesystem>

#include "checkpoint/retention.h"
#include "comparison.h"
#include "random_moment.h"
#include "training.h"

namespace tpack::reliability {
namespace {

class Kill : public Training {
 protected:
  /// Kills run `killed` `kills` times with signal 9, each time after one to `most_saves` further saves, and
  /// every second time just after a file of a checkpoint has appeared. Then compares it with a run that was
  /// never killed.
  void survives(int kills, int most_saves, int64_t last_step, const Launch& launch) {
    train_well("straight", {}, launch);
    std::filesystem::create_directories(checkpoints("killed"));
    const FolderWatch watch(checkpoints("killed"));
    for (int i = 0; i < kills; ++i) {
      const bool aimed = i % 2 == 1;
      Process process(
          words("killed", {"--resume", "auto", "--plan", run_folder("straight") + "/plan.json"}, launch),
          folder_ / "out");
      ASSERT_TRUE(wait_for_saves(process, dice_.roll(1, most_saves), aimed ? 0 : dice_.roll(0, 20'000)))
          << "the run was over before kill " << i << "\n"
          << process.err();
      ASSERT_TRUE(!aimed || watch.wait());
      kill(launch.before.empty() ? process.pid() : one_rank(process.pid(), aimed), SIGKILL);
      EXPECT_EQ(process.wait(), 128 + SIGKILL) << process.err();
      if (!newest_.path.empty()) expect_resumed(process.err(), newest_.path);
      look_at_what_is_left(last_step);
      if (HasFatalFailure()) return;
    }
    std::cout << launch.name << ": " << hits_ << " of " << kills << " kills hit a save in progress"
              << std::endl;
    go_on_well("killed", newest_.step, {}, launch);
    EXPECT_EQ(unfinished_files(checkpoints("killed")).size(), 0U);
    EXPECT_EQ(unfinished_files(run_folder("killed")).size(), 0U);
    expect_same_end(run_folder("straight"), run_folder("killed"), last_step);
  }

  /// The first of two ranks, which saves, or any rank.
  pid_t one_rank(pid_t mpirun, bool first) {
    const std::vector<pid_t> ranks = children_of(mpirun);
    EXPECT_EQ(ranks.size(), 2U);
    return ranks.at(first ? 0 : static_cast<size_t>(dice_.roll(0, 1)));
  }

  /// Complete checkpoints; the next run must take the newest.
  void look_at_what_is_left(int64_t last_step) {
    if (!unfinished_files(checkpoints("killed")).empty()) ++hits_;
    const std::vector<CheckpointFile> left = list_checkpoints(checkpoints("killed"));
    ASSERT_FALSE(left.empty());
    std::vector<std::string> verify = {"ckpt", "verify"};
    for (const CheckpointFile& file : left) verify.push_back(file.path);
    const Outcome outcome = testing_cli::tpack(verify);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    newest_ = left.front();
    ASSERT_LT(newest_.step, last_step) << "the run was over before the kill";
  }

  Dice dice_;
  int hits_ = 0;           // kills that left an unfinished checkpoint
  CheckpointFile newest_;  // after the last kill
};

TEST_F(Kill, a_run_on_one_device_25_times) {
  Launch launch = kSimple;
  for (const char* word : {"--set", "max_epoch=50"}) launch.changes.emplace_back(word);
  survives(25, 8, 1250, launch);
  EXPECT_GT(hits_, 0);
}

TEST_F(Kill, a_run_on_two_towers_5_times) {
  Launch launch = kTowers;
  for (const char* word : {"--set", "max_epoch=20"}) launch.changes.emplace_back(word);
  survives(5, 8, 240, launch);
}

TEST_F(Kill, one_of_two_ranks_5_times) {
  if (const auto why = no_ranks()) GTEST_SKIP() << *why;
  Launch launch = kRanks;
  for (const char* word : {"--set", "max_epoch=20"}) launch.changes.emplace_back(word);
  survives(5, 8, 240, launch);
}

}  // namespace
}  // namespace tpack::reliability
