// `tpack train --procs N`: ranks that are killed, stopped or asked to end.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <sched.h>
#include <thread>

#include "checkpoint/retention.h"
#include "comparison.h"
#include "core/clock.h"
#include "random_moment.h"
#include "training.h"

namespace tpack::reliability {
namespace {

constexpr double kProcsGoneWithinS = 30;
constexpr int64_t kProcsEpochs = 100;
constexpr int64_t kProcsSteps = 5 * kProcsEpochs;

class Procs : public Training {
 protected:
  Procs() { config_ = source_folder() + "/tests/reliability/plain.yaml"; }
  void SetUp() override {
    if (const auto why = no_ranks()) GTEST_SKIP() << *why;
  }

  /// Some steps, each followed by a save.
  static std::vector<std::string> four(const std::string& timeout_s = "60") {
    return {"--procs",  "4",
            "--set",    "trainer={Horovod: {timeout_s: " + timeout_s + "}}",
            "--set",    "steps_per_epoch=5",
            "--set",    "max_epoch=" + std::to_string(kProcsEpochs),
            "--set",    "callbacks=[ModelSaver: {keep: 3}]",
            "--resume", "auto"};
  }
  /// The mpirun of `tpack train --procs`; 0: not yet.
  static pid_t mpirun_of(Process& process) {
    const std::vector<pid_t> children = children_of(process.pid());
    return children.empty() ? 0 : children[0];
  }
  /// Its ranks, once they train.
  static std::vector<pid_t> ranks_of(Process& process) {
    std::vector<pid_t> ranks = children_of(mpirun_of(process));
    if (ranks.size() != 4) ranks.clear();
    return ranks;
  }
  /// False for one that has ended, whether somebody has asked how or not.
  static bool is_there(pid_t pid) {
    const std::string status = content_of("/proc/" + std::to_string(pid) + "/stat");
    const size_t name_end = status.rfind(')');
    return name_end != std::string::npos && status.at(name_end + 2) != 'Z' && status.at(name_end + 2) != 'X';
  }
  void expect_gone(const std::vector<pid_t>& ranks, const Stopwatch& watch) {
    for (const pid_t rank : ranks) EXPECT_FALSE(is_there(rank)) << "process " << rank << " is still there";
    EXPECT_LT(watch.seconds(), kProcsGoneWithinS);
  }
  /// The newest checkpoint; all are complete.
  CheckpointFile newest_of_valid(const std::string& name) const {
    EXPECT_EQ(unfinished_files(checkpoints(name)).size(), 0U)
        << "in checkpoints of rank 0, which ended in order";
    const std::vector<CheckpointFile> left = list_checkpoints(checkpoints(name));
    for (const CheckpointFile& file : left) EXPECT_NO_THROW(verify_checkpoint(file.path)) << file.path;
    EXPECT_FALSE(left.empty());
    return left.empty() ? CheckpointFile() : left.front();
  }

  Dice dice_;
};

/// What depends on the moment at which a signal meets a process.
class ProcsSignalled : public Procs {};

TEST_F(Procs, train_what_mpirun_trains) {
  train_well("mpirun", {}, kRanks);
  train_well("procs", {"--procs", "2", "--set", "trainer=Horovod"});
  expect_same_state(load_checkpoint(checkpoint(20, "mpirun")), load_checkpoint(checkpoint(20, "procs")));
}

/// One signal is enough, and training goes on.
TEST_F(Procs, save_when_a_signal_asks) {
  std::vector<std::string> more = four();
  more.insert(more.end(), {"--set", "callbacks=[]", "--set", "max_epoch=1000000"});
  Process process(words("asked", more), folder_ / "out");
  ASSERT_TRUE(process.wait_for("the run")) << process.err();
  process.signal(SIGUSR1);
  ASSERT_TRUE(process.wait_for("SIGUSR1: saving a checkpoint")) << process.err();
  ASSERT_TRUE(process.wait_for("saved ")) << process.err();
  EXPECT_EQ(list_checkpoints(checkpoints("asked")).size(), 1U);
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait(), 143) << process.err();
}

TEST_F(ProcsSignalled, say_which_rank_was_killed_and_where_20_times) {
  const std::string name = "killed";
  for (int i = 0; i < 20; ++i) {
    Process process(words(name, four()), folder_ / "out");
    ASSERT_TRUE(wait_for_saves(process, dice_.roll(1, 3), dice_.roll(0, 20'000))) << process.err();
    const std::vector<pid_t> ranks = ranks_of(process);
    ASSERT_EQ(ranks.size(), 4U) << process.err();
    const int victim = dice_.roll(0, 3);
    const Stopwatch watch;
    kill(ranks[static_cast<size_t>(victim)], SIGKILL);
    EXPECT_EQ(process.wait(), 7) << process.err();
    expect_gone(ranks, watch);
    EXPECT_NE(process.err().rfind("\nerror: rank " + std::to_string(victim) +
                                  " was killed by signal 9 (Killed) at '"),
              std::string::npos)
        << process.err();
    const std::vector<CheckpointFile> left = list_checkpoints(checkpoints(name));
    ASSERT_FALSE(left.empty());
    for (const CheckpointFile& file : left) EXPECT_NO_THROW(verify_checkpoint(file.path)) << file.path;
    ASSERT_LT(left.front().step, kProcsSteps) << "the run was over before the kill";
  }
  train_well(name, four());
  train_well("straight", four());
  expect_same_state(load_checkpoint(checkpoint(kProcsSteps, "straight")),
                    load_checkpoint(checkpoint(kProcsSteps, name)));
}

TEST_F(ProcsSignalled, end_when_a_rank_stands_still) {
  Process process(words("stopped", four("5")), folder_ / "out");
  ASSERT_TRUE(process.wait_for("saved ")) << process.err();
  const std::vector<pid_t> ranks = ranks_of(process);
  ASSERT_EQ(ranks.size(), 4U) << process.err();
  const Stopwatch watch;
  kill(ranks[2], SIGSTOP);
  EXPECT_EQ(process.wait(), 7) << process.err();
  expect_gone(ranks, watch);
  const size_t last = process.err().rfind("error: ");
  ASSERT_NE(last, std::string::npos) << process.err();
  EXPECT_NE(process.err().find("no response from rank 2 within 5 s", last), std::string::npos)
      << process.err();
  newest_of_valid("stopped");
}

TEST_F(ProcsSignalled, end_with_mpirun) {
  Process process(words("no_mpirun", four()), folder_ / "out");
  ASSERT_TRUE(process.wait_for("saved ")) << process.err();
  const std::vector<pid_t> ranks = ranks_of(process);
  ASSERT_EQ(ranks.size(), 4U) << process.err();
  const Stopwatch watch;
  kill(mpirun_of(process), SIGKILL);
  EXPECT_EQ(process.wait(), 7) << process.err();
  EXPECT_EQ(testing_cli::last_line(process.err()).rfind("error: ", 0), 0U) << process.err();
  expect_gone(ranks, watch);
}

TEST_F(ProcsSignalled, end_with_the_process_that_started_them) {
  std::vector<pid_t> ranks;
  {
    Process process(words("alone", four()), folder_ / "out");
    ASSERT_TRUE(process.wait_for("saved ")) << process.err();
    ranks = ranks_of(process);
    ASSERT_EQ(ranks.size(), 4U) << process.err();
  }  // killed
  const Stopwatch watch;
  const auto any_left = [&] { return std::any_of(ranks.begin(), ranks.end(), is_there); };
  while (any_left() && watch.seconds() < kProcsGoneWithinS) sched_yield();
  expect_gone(ranks, watch);
}

TEST_F(Procs, go_on_as_two_with_the_same_samples) {
  std::vector<std::string> some = four();
  some.insert(some.end(), {"--set", "max_epoch=2"});
  train_well("four", some);
  some.insert(some.end(), {"--set", "max_epoch=1"});
  train_well("two", some);
  train_well("two", {"--procs", "2", "--set", "trainer={Horovod: {accumulate: 2}}", "--set",
                     "steps_per_epoch=5", "--set", "max_epoch=2", "--resume", "auto"});
  const CheckpointContent four = load_checkpoint(checkpoint(10, "four"));
  const CheckpointContent two = load_checkpoint(checkpoint(10, "two"));
  for (const auto& [entry, value] : four.tensors)
    EXPECT_LT(max_difference(value, two.tensors.at(entry)), 1e-5) << entry;
}

TEST_F(ProcsSignalled, save_when_they_are_asked_to_end) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGTERM, SIGINT}) {
    Process process(words("asked", four()), folder_ / "out");
    ASSERT_TRUE(wait_for_saves(process, dice_.roll(1, 3), dice_.roll(0, 20'000))) << process.err();
    const std::vector<pid_t> ranks = ranks_of(process);
    const pid_t mpirun = mpirun_of(process);
    const Stopwatch watch;
    kill(process.pid(), number);
    EXPECT_EQ(process.wait(), 128 + number) << process.err();
    const std::string exit_json = content_of(folder_ / "asked/exit.json");
    EXPECT_NE(exit_json.find("\"exit_code\": " + std::to_string(128 + number)), std::string::npos)
        << exit_json;
    expect_gone(ranks, watch);
    while (is_there(mpirun) && watch.seconds() < kProcsGoneWithinS) std::this_thread::yield();
    expect_gone({mpirun}, watch);
    EXPECT_EQ(process.err().find("mpirun:"), std::string::npos) << "it was disturbed: " << process.err();
    EXPECT_EQ(process.err().find("*** "), std::string::npos) << process.err();
    EXPECT_NE(process.err().find("training was interrupted, saved "), std::string::npos) << process.err();
    EXPECT_LT(newest_of_valid("asked").step, kProcsSteps);
  }
}

TEST_F(ProcsSignalled, save_when_mpirun_is_asked_to_end) {
  // Between its own SIGTERM and that of the ranks mpirun lets some tenths of a second pass, in which it takes
  // no output: epochs of milliseconds would fill the pipe.
  std::vector<std::string> endless = four();
  endless.insert(endless.end(), {"--set", "max_epoch=1000000", "--set", "steps_per_epoch=100"});
  Process process(words("told", endless), folder_ / "out");
  ASSERT_TRUE(process.wait_for("saved ")) << process.err();
  const std::vector<pid_t> ranks = ranks_of(process);
  ASSERT_EQ(ranks.size(), 4U) << process.err();
  const Stopwatch watch;
  kill(mpirun_of(process), SIGTERM);
  EXPECT_EQ(process.wait(), 128 + SIGTERM) << process.err();
  expect_gone(ranks, watch);
  EXPECT_NE(process.err().find("training was interrupted, saved "), std::string::npos) << process.err();
  newest_of_valid("told");
}

TEST_F(Procs, say_once_what_is_wrong_with_the_config) {
  const Outcome outcome =
      train("wrong", {"--procs", "3", "--set", "trainer=Horovod", "--set", "max_epoch=-1"});
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  const size_t first = outcome.err.find("max_epoch");
  EXPECT_NE(first, std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("error:"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("error:"), outcome.err.rfind("error:")) << outcome.err;
}

/// Whatever the other ranks say of it.
TEST_F(Procs, say_last_what_ended_the_run) {
  using testing_cli::last_line;
  const std::vector<std::string> two = {"--procs", "2",           "--set", "trainer=Horovod",
                                        "--set",   "max_epoch=1", "--set", "gates={cost: \"< 0\"}"};
  const Outcome missed = train("last", two);
  EXPECT_EQ(missed.code, 8) << missed.err;
  EXPECT_EQ(last_line(missed.err).find("error: gate cost < 0 is missed"), 0U) << missed.err;
  const Outcome again = train("last", two);
  EXPECT_EQ(again.code, 2) << again.err;
  EXPECT_NE(last_line(again.err).find("has checkpoints of an earlier run"), std::string::npos) << again.err;
  EXPECT_EQ(again.err.find("error:"), again.err.rfind("error:")) << again.err;
}

TEST_F(Procs, are_rejected_where_they_cannot_be) {
  const Outcome none = testing_cli::tpack({"train", config_, "--procs", "0"});
  EXPECT_EQ(none.code, 2) << none.err;
  const Outcome simple = train("simple", {"--procs", "2"});
  EXPECT_EQ(simple.code, 2) << simple.err;
  EXPECT_NE(simple.err.find("use trainer: {Horovod: {}}"), std::string::npos) << simple.err;
}

}  // namespace
}  // namespace tpack::reliability
