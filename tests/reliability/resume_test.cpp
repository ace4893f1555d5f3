// A run that is stopped by signals and continued with --resume auto ends like one that was never stopped.
#include <csignal>
#include <filesystem>

#include "checkpoint/retention.h"
#include "comparison.h"
#include "random_moment.h"
#include "training.h"

namespace tpack::reliability {
namespace {

constexpr int64_t kLastStep = 100;
constexpr int64_t kLastStepOfTwo = 48;  // 200 samples in batches of 8 for two replicas, four times

class Resume : public Training {
 protected:
  /// Trains `straight` to the end, and `stopped` with the same plan in pieces, and compares them. `stop`
  /// sends a process its signal, and returns false if the run ended before that. `pieces` pieces must be
  /// ended by a signal; if a run ends too soon, all pieces are repeated, with signals as early as possible.
  template <class Stop>
  void compare_with_pieces(const Launch& launch, int64_t last_step, int pieces, Stop&& stop) {
    constexpr int kTries = 3;
    train_well("straight", {}, launch);
    int interrupted = 0;
    for (int attempt = 0; attempt < kTries && interrupted < pieces && !HasFailure(); ++attempt) {
      std::filesystem::remove_all(run_folder("stopped"));
      std::filesystem::create_directories(checkpoints("stopped"));
      early_ = attempt > 0;
      interrupted = interrupt(launch, last_step, pieces, stop);
    }
    ASSERT_EQ(interrupted, pieces) << "the run was over too soon in each of " << kTries << " attempts";
    go_on_well("stopped", stopped_at_, {}, launch);
    expect_same_end(run_folder("straight"), run_folder("stopped"), last_step);
  }

  /// Trains `stopped` in pieces, until one of them runs to the end; returns how many pieces were interrupted.
  template <class Stop>
  int interrupt(const Launch& launch, int64_t last_step, int pieces, Stop&& stop) {
    stopped_at_ = 0;
    for (int piece = 0; piece < pieces; ++piece) {
      Process process(
          words("stopped", {"--resume", "auto", "--plan", run_folder("straight") + "/plan.json"}, launch),
          folder_ / "out");
      const bool stopped = stop(process, piece);
      const int code = process.wait();
      const int64_t step = step_of("stopped");
      std::cout << launch.name << ", piece " << piece << ": exit " << code << " at step " << step
                << std::endl;
      if (stopped_at_ > 0) expect_resumed(process.err(), checkpoint(stopped_at_, "stopped"));
      if (!stopped || step == last_step || (epoch_steps_ > 0 && step % epoch_steps_ == 0)) return piece;
      EXPECT_EQ(code, 128 + SIGTERM) << process.err();
      EXPECT_GE(step, stopped_at_) << "the same where it was stopped in the hooks of an epoch twice";
      stopped_at_ = step;
    }
    return pieces;
  }

  /// The step at which the last process of a run ended.
  int64_t step_of(const std::string& name) const {
    return nlohmann::json::parse(content_of(run_folder(name) + "/exit.json")).at("global_step");
  }

  /// Waits for a random number of checkpoints and polls; false if the run ended before.
  bool wait_somewhere(Process& process, int most_saves, int most_polls) {
    return wait_for_saves(process, early_ ? 1 : dice_.roll(1, most_saves),
                          early_ ? 0 : dice_.roll(0, most_polls));
  }

  /// SIGTERM after a random number of checkpoints and polls.
  bool terminate_somewhere(Process& process, int most_saves) {
    if (!wait_somewhere(process, most_saves, kMaxPolls)) return false;
    process.signal(SIGTERM);
    return true;
  }

  /// SIGTERM at the moment when a file of the next checkpoint appears; with several ranks, to one of them. At
  /// least one of the signals must find the file unfinished.
  void compare_while_saving(const Launch& launch, int64_t last_step, int pieces) {
    int hits = 0;
    compare_with_pieces(launch, last_step, pieces, [&](Process& process, int piece) {
      const FolderWatch watch(checkpoints("stopped"));
      if (!wait_somewhere(process, 8 / pieces, 0)) return false;
      const std::vector<pid_t> ranks =
          launch.before.empty() ? std::vector{process.pid()} : children_of(process.pid());
      if (ranks.empty() || !watch.wait()) return false;
      EXPECT_EQ(kill(ranks.at(static_cast<size_t>(piece) % ranks.size()), SIGTERM), 0);
      if (!unfinished_files(checkpoints("stopped")).empty()) ++hits;
      return true;
    });
    std::cout << launch.name << ": " << hits << " of " << pieces << " signals came while a file was written"
              << std::endl;
    EXPECT_GT(hits, 0);
  }

  static constexpr int kMaxPolls = 20'000;
  int64_t epoch_steps_ = 0;  // if given, every piece must end within an epoch of that many steps
  Dice dice_;
  bool early_ = false;      // whether signals come as early as possible
  int64_t stopped_at_ = 0;  // the step at which the last piece was ended
};

TEST_F(Resume, on_one_device_after_sigterm_at_random_moments) {
  compare_with_pieces(kSimple, kLastStep, 4, [&](Process& p, int) { return terminate_somewhere(p, 4); });
}

TEST_F(Resume, on_two_towers_after_sigterm_at_random_moments) {
  compare_with_pieces(kTowers, kLastStepOfTwo, 3, [&](Process& p, int) { return terminate_somewhere(p, 2); });
}

/// Measured algorithms and two threads; a checkpoint is saved after every fifth step.
class ResumeOfFastKernels : public Resume {
 protected:
  ResumeOfFastKernels() {
    config_ = source_folder() + "/tests/reliability/tuned-convnet.yaml";
    epoch_steps_ = 20;
  }
};

TEST_F(ResumeOfFastKernels, on_one_device_after_sigterm_in_mid_epoch) {
  compare_with_pieces(kSimple, 40, 1, [&](Process& process, int) {
    if (!wait_somewhere(process, 1, 1'000)) return false;
    process.signal(SIGTERM);
    return true;
  });
}

/// A GAN, also in the middle of a round.
class ResumeOfGan : public Resume {
 protected:
  ResumeOfGan() { config_ = source_folder() + "/tests/reliability/gan.yaml"; }

  static constexpr int64_t kOfOne = 300;  // its last step
  static constexpr int64_t kOfTwo = 144;  // that of two replicas
};

TEST_F(ResumeOfGan, on_one_device_after_sigterm_at_random_moments) {
  compare_with_pieces(kSimple, kOfOne, 3, [&](Process& p, int) { return terminate_somewhere(p, 4); });
}

TEST_F(ResumeOfGan, on_two_towers_after_sigterm_at_random_moments) {
  compare_with_pieces(kTowers, kOfTwo, 2, [&](Process& p, int) { return terminate_somewhere(p, 2); });
}

TEST_F(ResumeOfGan, on_two_ranks_after_sigterm_to_one_of_them) {
  if (const auto why = no_ranks()) GTEST_SKIP() << *why;
  compare_with_pieces(kRanks, kOfTwo, 2, [&](Process& process, int piece) {
    if (!wait_somewhere(process, 2, kMaxPolls)) return false;
    const std::vector<pid_t> ranks = children_of(process.pid());
    if (ranks.empty()) return false;
    return kill(ranks.at(static_cast<size_t>(piece) % ranks.size()), SIGTERM) == 0;
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
    if (!wait_somewhere(process, 2, kMaxPolls)) return false;
    const std::vector<pid_t> ranks = children_of(process.pid());
    if (ranks.empty()) return false;
    EXPECT_EQ(ranks.size(), 2U);
    EXPECT_EQ(kill(ranks.at(static_cast<size_t>(piece) % ranks.size()), SIGTERM), 0);
    return true;
  });
}

/// mpirun forwards the signal after a second, and kills the remaining processes after another second.
TEST_F(Resume, on_two_ranks_after_sigterm_to_mpirun) {
  if (const auto why = no_ranks()) GTEST_SKIP() << *why;
  Launch launch = kRanks;
  for (const char* word : {"--set", "max_epoch=80"}) launch.changes.emplace_back(word);
  constexpr int64_t kLast = 80 * kLastStepOfTwo / 4;
  train_well("straight", {}, launch);
  Process process(words("stopped", {"--plan", run_folder("straight") + "/plan.json"}, launch),
                  folder_ / "out");
  ASSERT_TRUE(wait_for_saves(process, dice_.roll(1, 3), 0));
  process.signal(SIGTERM);
  EXPECT_NE(process.wait(), 0) << process.err();
  const auto newest = newest_valid_checkpoint(checkpoints("stopped"));
  ASSERT_TRUE(newest.has_value());
  std::cout << launch.name << ": left at step " << newest->step << " of " << kLast << std::endl;
  ASSERT_LT(newest->step, kLast) << "the run was over before the signal";
  go_on_well("stopped", newest->step, {}, launch);
  expect_same_end(run_folder("straight"), run_folder("stopped"), kLast);
}

}  // namespace
}  // namespace tpack::reliability
