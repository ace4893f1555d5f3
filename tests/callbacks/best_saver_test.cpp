#include <cmath>
#include <filesystem>

#include <gmock/gmock.h>

#include "callbacks/give_scalar.h"
#include "checkpoint/checkpoint.h"
#include "support/captured_log.h"
#include "support/failing_file_io.h"
#include "support/fake_trainer.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class BestSaverTest : public testing::Test {
 protected:
  TestRun& start(int64_t max_epoch, std::vector<double> values, std::vector<int64_t> silent = {}) {
    trainer_ = std::make_unique<FakeTrainer>();
    run_ = std::make_unique<TestRun>(RunLength{.max_epoch = max_epoch, .steps_per_epoch = 1}, *trainer_);
    run_->options.folder = folder_.str();
    run_->add("give", std::make_unique<GiveScalar>("accuracy", std::move(values), std::move(silent)));
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
  std::unique_ptr<FakeTrainer> trainer_;
  std::unique_ptr<TestRun> run_;
};

TEST_F(BestSaverTest, keeps_the_state_of_the_best_epoch) {
  start(4, {0.5, 0.9, 0.7, 0.9}).go();
  EXPECT_EQ(best_epoch(), 2);
}

TEST_F(BestSaverTest, an_epoch_without_a_new_value_is_never_taken) {
  start(3, {0.5, 0.0, 0.4}, {2}).go();
  EXPECT_EQ(best_epoch(), 1);
}

TEST_F(BestSaverTest, nan_is_never_the_best) {
  start(3, {kNan, 0.3, kNan}).go();
  EXPECT_EQ(best_epoch(), 2);
}

TEST_F(BestSaverTest, says_that_it_never_saved) {
  const auto said = [&](std::vector<double> values) {
    const CapturedLog log;
    start(2, std::move(values)).go();
    return log.text();
  };
  EXPECT_THAT(said({kNan, kNan}), testing::HasSubstr("saved nothing, because accuracy was never a number"));
  EXPECT_EQ(best_epoch(), 0);
  EXPECT_THAT(said({kNan, 0.3}), testing::Not(testing::HasSubstr("saved nothing")));
}

TEST_F(BestSaverTest, says_what_the_best_was_if_its_file_is_missing) {
  start(3, {0.5, 0.9, kNan}).go();
  std::filesystem::remove(best_file());
  const CapturedLog log;
  start(4, {0, 0, 0, 0.7}).go_on_from(folder_ / "checkpoints/model-3.h5");
  EXPECT_THAT(
      log.text(),
      testing::HasSubstr("warning: callback MaxSaver: accuracy was 0.9 after global_step 2, but this folder "
                         "has no max-accuracy.h5; the next value counts as the best\n"));
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
    FakeTrainer trainer;
    TestRun without({.max_epoch = 3, .steps_per_epoch = 1}, trainer);
    without.options.folder = folder_.str();
    without.add("give", std::make_unique<GiveScalar>("accuracy", std::vector<double>{0, 0, 0.1}));
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

TEST_F(BestSaverTest, must_come_after_what_gives_the_value) {
  FakeTrainer trainer;
  TestRun run({.max_epoch = 1, .steps_per_epoch = 1}, trainer);
  run.add("MaxSaver", {{"monitor", "accuracy"}});
  run.add("give", std::make_unique<GiveScalar>("accuracy", std::vector<double>{1}));
  try {
    run.go();
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "callback MaxSaver: 'accuracy' is reported by a callback later in the list; move that "
                 "callback before this one");
  }
}

TEST_F(BestSaverTest, rejects_an_unknown_statistic) {
  FakeTrainer trainer;
  TestRun run({.max_epoch = 1, .steps_per_epoch = 1}, trainer);
  run.add("give", std::make_unique<GiveScalar>("accuracy", std::vector<double>{1}));
  run.add("MaxSaver", {{"monitor", "acuracy"}});
  try {
    run.go();
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "callback MaxSaver: unknown statistic 'acuracy'; did you mean 'accuracy'?");
  }
}

TEST_F(BestSaverTest, can_have_a_file_of_another_name) {
  trainer_ = std::make_unique<FakeTrainer>();
  TestRun run({.max_epoch = 3, .steps_per_epoch = 1}, *trainer_);
  run.options.folder = folder_.str();
  run.add("give", std::make_unique<GiveScalar>("accuracy", std::vector<double>{0.5, 0.9, 0.1}));
  run.add("MaxSaver", {{"monitor", "accuracy"}, {"file", "best.h5"}}).go();
  EXPECT_EQ(load_checkpoint(folder_ / "checkpoints/best.h5").epoch, 2);
}

TEST(BestSaver, rejects_the_names_of_other_files) {
  for (const char* file : {"model-7.h5", "a/b.h5", "best"}) {
    try {
      Registry<Callback>::make("MinSaver", {{"monitor", "cost"}, {"file", file}});
      ADD_FAILURE() << file;
    } catch (const ConfigError& error) {
      EXPECT_EQ(std::string(error.what()), "callback MinSaver: 'file' is '" + std::string(file) +
                                               "'; the name must end with .h5 and not begin with model-");
    }
  }
}

}  // namespace
}  // namespace tpack
