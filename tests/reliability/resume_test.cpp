// A run that is stopped by a signal and goes on with --resume auto ends as one that was never stopped.
#include <csignal>
#include <filesystem>

#include "comparison.h"
#include "random_moment.h"
#include "training.h"

namespace tpack::reliability {
namespace {

constexpr int64_t kLastStep = 100;
constexpr int64_t kLastStepOfTwo = 48;  // 200 samples in batches of 8 for two replicas, four times

class Resume : public Training {
 protected:
  /// Trains `straight` to the end, and `stopped` with the same plan in pieces: `stop` ends each of them, and
  /// gives the exit code that it should have.
  template <class Stop>
  void compare_with_pieces(const Launch& launch, int64_t last_step, int pieces, Stop&& stop) {
    train_well("straight", {}, launch);
    for (int piece = 0; piece < pieces; ++piece) {
      Process process(
          words("stopped", {"--resume", "auto", "--plan", run_folder("straight") + "/plan.json"}, launch),
          folder_ / "out");
      const int expected = stop(process, piece);
      ASSERT_EQ(process.wait(), expected) << process.err();
      std::cout << launch.name << ", piece " << piece << ": exit " << expected << " at step "
                << nlohmann::json::parse(content_of(run_folder("stopped") + "/exit.json"))["global_step"]
                << std::endl;
      if (expected == 0) break;
    }
    train_well("stopped", {"--resume", "auto"}, launch);
    expect_same_run(last_step);
  }

  void expect_same_run(int64_t last_step) {
    expect_same_checkpoint(checkpoint(last_step, "straight"), checkpoint(last_step, "stopped"));
    expect_same_checkpoint(checkpoints("straight") + "/max-validation_accuracy.h5",
                           checkpoints("stopped") + "/max-validation_accuracy.h5");
    expect_same_statistics(run_folder("straight"), run_folder("stopped"));
  }

  /// SIGTERM after a random number of checkpoints and polls; 0 where the run was over before.
  int terminate_somewhere(Process& process, int most_saves) {
    if (!wait_for_saves(process, dice_.roll(1, most_saves), dice_.roll(0, 20'000))) return 0;
    process.signal(SIGTERM);
    return 128 + SIGTERM;
  }

  /// SIGTERM in the moment in which a file of the next checkpoint appears; to one of the ranks where there
  /// are some.
  void compare_while_saving(const Launch& launch, int64_t last_step, int pieces) {
    std::filesystem::create_directories(checkpoints("stopped"));
    const FolderWatch watch(checkpoints("stopped"));
    compare_with_pieces(launch, last_step, pieces, [&](Process& process, int piece) {
      if (!wait_for_saves(process, dice_.roll(1, 8 / pieces), 0)) return 0;
      const std::vector<pid_t> ranks =
          launch.before.empty() ? std::vector{process.pid()} : children_of(process.pid());
      EXPECT_TRUE(watch.wait());
      EXPECT_EQ(kill(ranks.at(static_cast<size_t>(piece) % ranks.size()), SIGTERM), 0);
      return 128 + SIGTERM;
    });
  }

  Dice dice_;
};

TEST_F(Resume, on_one_device_after_sigterm_at_random_moments) {
  compare_with_pieces(kSimple, kLastStep, 4, [&](Process& p, int) { return terminate_somewhere(p, 5); });
}

TEST_F(Resume, on_two_towers_after_sigterm_at_random_moments) {
  compare_with_pieces(kTowers, kLastStepOfTwo, 3, [&](Process& p, int) { return terminate_somewhere(p, 3); });
}

/// Measured algorithms and two threads; an epoch has 20 steps, a save is made after every fifth.
class ResumeOfFastKernels : public Resume {
 protected:
  ResumeOfFastKernels() { config_ = source_folder() + "/tests/reliability/tuned-convnet.yaml"; }
};

TEST_F(ResumeOfFastKernels, on_one_device_after_sigterm_in_mid_epoch) {
  compare_with_pieces(kSimple, 40, 1, [&](Process& process, int) {
    EXPECT_TRUE(wait_for_saves(process, 1, dice_.roll(0, 1'000)));
    process.signal(SIGTERM);
    return 128 + SIGTERM;
  });
}

TEST_F(Resume, on_one_device_after_sigterm_while_a_checkpoint_is_written) {
  compare_while_saving(kSimple, kLastStep, 4);
}

TEST_F(Resume, on_two_towers_after_sigterm_while_a_checkpoint_is_written) {
  compare_while_saving(kTowers, kLastStepOfTwo, 2);
}

TEST_F(Resume, on_two_ranks_after_sigterm_while_a_checkpoint_is_written) {
  if (const auto why = no_ranks()) GTEST_SKIP() << *why;
  compare_while_saving(kRanks, kLastStepOfTwo, 2);
}

TEST_F(Resume, on_two_ranks_after_sigterm_to_one_of_them) {
  if (const auto why = no_ranks()) GTEST_SKIP() << *why;
  compare_with_pieces(kRanks, kLastStepOfTwo, 3, [&](Process& process, int piece) {
    if (!wait_for_saves(process, dice_.roll(1, 3), dice_.roll(0, 20'000))) return 0;
    const std::vector<pid_t> ranks = children_of(process.pid());
    EXPECT_EQ(ranks.size(), 2U);
    for (size_t i = 0; i < ranks.size(); ++i) {
      if (static_cast<int>(i) == piece % 2) kill(ranks[i], SIGTERM);
    }
    return 128 + SIGTERM;
  });
}

/// mpirun passes the signal on after a second, and kills what is there after another one.
TEST_F(Resume, on_two_ranks_after_sigterm_to_mpirun) {
  if (const auto why = no_ranks()) GTEST_SKIP() << *why;
  Launch launch = kRanks;
  for (const char* word : {"--set", "max_epoch=40"}) launch.changes.emplace_back(word);
  train_well("straight", {}, launch);
  {
    Process process(words("stopped", {"--plan", run_folder("straight") + "/plan.json"}, launch),
                    folder_ / "out");
    ASSERT_TRUE(wait_for_saves(process, dice_.roll(1, 3), 0));
    process.signal(SIGTERM);
    EXPECT_NE(process.wait(), 0) << process.err();
  }
  train_well("stopped", {"--resume", "auto"}, launch);
  expect_same_run(40 * kLastStepOfTwo / 4);
}

}  // namespace
}  // namespace tpack::reliability
