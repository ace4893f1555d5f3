#include <cmath>
#include <filesystem>

#include <gmock/gmock-matchers.h>

#include "callbacks/give_scalar.h"
#include "checkpoint/checkpoint.h"
#include "support/captured_log.h"
#include "support/errors.h"
#include "support/failing_file_io.h"
#include "support/fake_trainer.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class BestSaverTest : public testing::Test {
 protected:
  TestRun& start(int64_t max_epoch, std::vector<double> values, std::vector<int64_t> silent = {}) {
    run_ = std::make_unique<FakeRun>(RunLength{.max_epoch = max_epoch, .steps_per_epoch = 1}, folder_.str());
    run_->add("give", give("accuracy", std::move(values), std::move(silent)));
    return run_->add("MaxSaver", {{"monitor", "accuracy"}}).add("ModelSaver");
  }
  /// The epoch of the state in the best file; 0 if there is no file. The weights count the steps.
  int64_t best_epoch() const {
    if (!std::filesystem::exists(best_file())) return 0;
    const CheckpointContent content = load_checkpoint(best_file());
    EXPECT_EQ(content.tensors.at("model/w").at(0), static_cast<double>(content.epoch));
    return content.epoch;
  }
  std::string best_file() const { return folder_ / "checkpoints/max-accuracy.h5"; }

  TemporaryFolder folder_;
  std::unique_ptr<FakeRun> run_;
};

TEST_F(BestSaverTest, keeps_the_state_of_the_best_epoch) {
  start(4, {0.5, 0.9, 0.7, 0.9}).go();
  EXPECT_EQ(best_epoch(), 2);
  std::filesystem::remove(best_file());
  start(3, {0.5, 0.0, 0.4}, {2}).go();
  EXPECT_EQ(best_epoch(), 1) << "an epoch without a new value";
  std::filesystem::remove(best_file());
  start(3, {kNan, 0.3, kNan}).go();
  EXPECT_EQ(best_epoch(), 2) << "nan";
}

TEST_F(BestSaverTest, says_that_it_never_saved) {
  const auto said = [&](std::vector<double> values) {
    const CapturedLog log;
    start(2, std::move(values)).go();
    return log.text();
  };
  EXPECT_TRUE(says(said({kNan, kNan}), {"saved nothing, because accuracy was never a number"}));
  EXPECT_EQ(best_epoch(), 0);
  EXPECT_THAT(said({kNan, 0.3}), testing::Not(testing::HasSubstr("saved nothing")));
}

TEST_F(BestSaverTest, says_what_the_best_was_if_its_file_is_missing) {
  start(3, {0.5, 0.9, kNan}).go();
  std::filesystem::remove(best_file());
  const CapturedLog log;
  start(4, {0, 0, 0, 0.7}).go_on_from(folder_ / "checkpoints/model-3.h5");
  EXPECT_TRUE(says(log.text(), {"warning: callback MaxSaver:", "the next value counts as the"}));
  EXPECT_EQ(best_epoch(), 4);
}

TEST_F(BestSaverTest, knows_its_best_after_a_resume) {
  start(2, {0.5, 0.9}).go();
  start(4, {0, 0, 0.7, 0.8}).go_on_from(folder_ / "checkpoints/model-2.h5");
  EXPECT_EQ(best_epoch(), 2);
  start(5, {0, 0, 0, 0, 0.95}).go_on_from(folder_ / "checkpoints/model-4.h5");
  EXPECT_EQ(best_epoch(), 5);
}

TEST_F(BestSaverTest, knows_its_best_after_a_resume_from_the_best) {
  start(3, {0.5, 0.9, 0.1}).go();
  start(3, {0, 0, 0.7}).go_on_from(best_file());
  EXPECT_EQ(best_epoch(), 2);
}

TEST_F(BestSaverTest, a_best_without_its_file_does_not_count) {
  start(2, {0.5, 0.9}).go();
  std::filesystem::rename(best_file(), folder_ / "elsewhere.h5");
  start(4, {0, 0, 0.7, 0.6}).go_on_from(folder_ / "checkpoints/model-2.h5");
  EXPECT_EQ(best_epoch(), 3);
}

TEST_F(BestSaverTest, put_into_the_list_of_a_resumed_run_it_does_not_replace_a_better_file) {
  start(2, {0.5, 0.9}).go();
  {
    FakeRun without({.max_epoch = 3, .steps_per_epoch = 1}, folder_.str());
    without.add("give", give("accuracy", {0, 0, 0.1}));
    without.add("ModelSaver").go_on_from(folder_ / "checkpoints/model-2.h5");
  }
  start(4, {0, 0, 0, 0.7}).go_on_from(folder_ / "checkpoints/model-3.h5");
  EXPECT_EQ(best_epoch(), 2);
}

TEST_F(BestSaverTest, trusts_the_file_if_a_checkpoint_knows_of_a_better_one) {
  // As after a kill between the writing of two files.
  start(1, {0.5}).go();
  const std::string first = content_of(best_file());
  start(2, {0, 0.9}).go_on_from(folder_ / "checkpoints/model-1.h5");
  write_content(best_file(), first);
  start(3, {0, 0, 0.7}).go_on_from(folder_ / "checkpoints/model-2.h5");
  EXPECT_EQ(best_epoch(), 3);
}

TEST_F(BestSaverTest, says_that_a_best_file_is_damaged) {
  start(1, {0.5}).go();
  write_content(best_file(), "damaged");
  testing::internal::CaptureStderr();
  start(2, {0, 0.4}).go_on_from(folder_ / "checkpoints/model-1.h5");
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::AllOf(testing::HasSubstr("callback MaxSaver: " + best_file()),
                             testing::HasSubstr("; the next accuracy counts as the best")));
  EXPECT_EQ(best_epoch(), 2);
}

TEST_F(BestSaverTest, a_best_that_was_not_saved_was_none) {
  // The best file of epoch 2 cannot be written: its first call fails. Epoch 3 is worse than 2, but better
  // than 1.
  int calls_of_one_save = 0;
  {
    FailingFileIo counting(0);
    start(1, {0.5}).options.io = &counting;
    run_->go();
    calls_of_one_save = counting.calls() / 2;  // best and model
  }
  std::filesystem::remove_all(folder_ / "checkpoints");
  FailingFileIo io(2 * calls_of_one_save + 1, ENOSPC);
  start(3, {0.5, 0.9, 0.7}).options.io = &io;
  run_->go();
  EXPECT_EQ(best_epoch(), 3);
}

TEST_F(BestSaverTest, needs_a_statistic_that_is_there) {
  FakeRun late({.max_epoch = 1, .steps_per_epoch = 1});
  late.add("MaxSaver", {{"monitor", "accuracy"}}).add("give", give("accuracy", {1}));
  EXPECT_TRUE(
      says(error_from([&] { late.go(); }), {"'accuracy' is reported by a", "move that callback before"}));
  FakeRun unknown({.max_epoch = 1, .steps_per_epoch = 1});
  unknown.add("give", give("accuracy", {1})).add("MaxSaver", {{"monitor", "acuracy"}});
  EXPECT_TRUE(says(error_from([&] { unknown.go(); }), {"'acuracy'", "did you mean 'accuracy'?"}));
}

TEST(BestSaver, rejects_the_names_of_other_files) {
  for (const std::string file : {"model-7.h5", "a/b.h5", "best"}) {
    const ConfigNode params = {{"monitor", "cost"}, {"file", file}};
    EXPECT_TRUE(says(error_from([&] { Registry<Callback>::make("MinSaver", params); }),
                     {"callback MinSaver: 'file' is '" + file + "'", "end with .h5"}));
  }
}

}  // namespace
}  // namespace tpack
