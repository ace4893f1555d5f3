// Makes the n-th call that writes a checkpoint fail, for every n of a whole run: open, write, fsync, close or
// rename.
#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <gtest/gtest.h>

#include "checkpoint/retention.h"
#include "support/failing_file_io.h"
#include "support/small_training.h"
#include "support/temporary_folder.h"

namespace tpack::reliability {
namespace {

constexpr RunLength kThreeSaves{.max_epoch = 3, .steps_per_epoch = 4};
constexpr int64_t kLastStepHere = 12;

/// How a run with a save after each epoch ended.
struct Ended {
  bool stopped_by_failure = false;
  bool lacks_a_save = false;
  std::map<std::string, Tensor> variables;
};

/// Trains; continues from `resume` if it is a file.
Ended train(const std::string& folder, FileIo& io, const std::string& on_error, const std::string& resume) {
  SmallTraining training;
  training.trainer().initialize();
  TestRun run(kThreeSaves, training.trainer());
  run.options.folder = folder;
  run.options.io = &io;
  run.add("ModelSaver", ConfigNode::map({{"on_error", ConfigNode(on_error)}}));
  Ended ended;
  try {
    ended.lacks_a_save = (resume.empty() ? run.go() : run.go_on_from(resume)).lacks_a_save;
  } catch (const ResourceError& error) {
    EXPECT_NE(std::string(error.what()).find(folder), std::string::npos) << error.what();
    ended.stopped_by_failure = true;
  }
  ended.variables = variables_of(training.trainer());
  return ended;
}

class FailingWrites : public testing::TestWithParam<std::string> {
 protected:
  FailingWrites() {
    const TemporaryFolder folder;
    FailingFileIo none(0);
    straight_ = train(folder.str(), none, "stop", "").variables;
    calls_ = none.calls();
  }

  /// The save, counted from 0, that call n belongs to.
  int save_of(int n) const { return 3 * (n - 1) / calls_; }

  /// Every file is a complete checkpoint, and the one before the failed save exists.
  void look_at_what_is_left(const std::string& checkpoints, int n) const {
    std::vector<int64_t> steps;
    for (const auto& entry : std::filesystem::directory_iterator(checkpoints))
      steps.push_back(load_checkpoint(entry.path()).step);
    const int64_t before = 4 * save_of(n);
    EXPECT_TRUE(before == 0 || std::find(steps.begin(), steps.end(), before) != steps.end());
  }

  std::map<std::string, Tensor> straight_;
  int calls_ = 0;
};

TEST_P(FailingWrites, leave_a_checkpoint_from_which_the_run_ends_with_the_same_bits) {
  ASSERT_GE(calls_, 3 * 9);
  for (int n = 1; n <= calls_; ++n) {
    SCOPED_TRACE("call " + std::to_string(n) + " of " + std::to_string(calls_));
    const TemporaryFolder folder;
    FailingFileIo io(n, n % 2 == 0 ? ENOSPC : EIO);
    const Ended ended = train(folder.str(), io, GetParam(), "");
    EXPECT_EQ(ended.stopped_by_failure, GetParam() == "stop");
    EXPECT_EQ(ended.lacks_a_save, GetParam() == "continue" && save_of(n) == 2);
    look_at_what_is_left(folder / "checkpoints", n);
    const auto newest = newest_valid_checkpoint(folder / "checkpoints");
    EXPECT_TRUE(newest || save_of(n) == 0);
    const Ended resumed = train(folder.str(), FileIo::system(), GetParam(), newest ? newest->path : "");
    EXPECT_FALSE(resumed.lacks_a_save);
    expect_bit_equal(resumed.variables, straight_);
    EXPECT_EQ(newest_valid_checkpoint(folder / "checkpoints")->step, kLastStepHere);
  }
}

INSTANTIATE_TEST_SUITE_P(OnError, FailingWrites, testing::Values("continue", "stop"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace tpack::reliability
