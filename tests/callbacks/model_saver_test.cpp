#include <cmath>
#include <filesystem>

#include <gmock/gmock-more-matchers.h>

#include "callbacks/callback_scenes.h"
#include "checkpoint/retention.h"
#include "support/failing_file_io.h"
#include "support/fake_trainer.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ModelSaverTest : public testing::Test {
 protected:
  LoopResult run(RunLength length, const ConfigNode& params, FileIo& io = FileIo::system()) {
    FakeRun test(length, folder_.str());
    test.options.io = &io;
    return test.add("ModelSaver", params).go();
  }
  std::string checkpoints() const { return folder_ / "checkpoints"; }
  std::vector<int64_t> steps() const {
    std::vector<int64_t> all;
    for (const CheckpointFile& file : list_checkpoints(checkpoints())) all.push_back(file.step);
    return all;
  }

  TemporaryFolder folder_;
};

TEST_F(ModelSaverTest, saves_after_epochs_or_steps_and_at_the_end) {
  struct Case {
    RunLength length;
    ConfigNode params;
    std::vector<int64_t> steps;
  };
  for (const Case& c : std::vector<Case>{
           {{.max_epoch = 12, .steps_per_epoch = 1}, {}, {12, 11, 10}},  // by number: 9 is older than 10
           {{.max_epoch = 7, .steps_per_epoch = 2}, {{"keep", 9}, {"every_epochs", 3}}, {14, 12, 6}},
           {{.max_epoch = 2, .steps_per_epoch = 7}, {{"keep", 9}, {"every_steps", 5}}, {14, 10, 5}},
           {{.max_epoch = 2, .steps_per_epoch = 6},
            {{"keep", 9}, {"every_steps", 4}, {"every_epochs", 1}},
            {12, 8, 6, 4}}}) {
    run(c.length, c.params);
    EXPECT_EQ(steps(), c.steps);
    std::filesystem::remove_all(checkpoints());
  }
}

TEST_F(ModelSaverTest, saves_at_the_end_that_a_callback_or_the_data_make) {
  for (const bool by_callback : {true, false}) {
    const TemporaryFolder folder;
    FakeTrainer trainer;
    if (!by_callback) trainer.data_ends_after = 5;
    TestRun test({.max_epoch = 9, .steps_per_epoch = 2}, trainer, folder.str());
    test.add("ModelSaver", {{"every_epochs", 2}});
    if (by_callback) {
      test.on_step("stop", [](tpack::Run& run) {
        if (run.global_step() == 5) run.request_stop("enough");
      });
    }
    test.go();
    EXPECT_EQ(load_checkpoint(folder / "checkpoints/model-5.h5").step, 5) << by_callback;
    EXPECT_EQ(list_checkpoints(folder / "checkpoints").size(), 2U) << by_callback;
  }
}

TEST_F(ModelSaverTest, saves_nothing_at_an_end_that_an_error_makes) {
  FakeRun test({.max_epoch = 9, .steps_per_epoch = 2}, folder_.str());
  test.add("ModelSaver", {{"every_epochs", 2}}).on_step("stop", [](tpack::Run& run) {
    if (run.global_step() == 5) throw Diverged("no number");
  });
  EXPECT_THROW(test.go(), Diverged);
  EXPECT_THAT(steps(), ElementsAre(4));
}

TEST_F(ModelSaverTest, says_once_what_is_due_by_step_and_by_epoch) {
  testing::internal::CaptureStderr();
  run({.max_epoch = 1, .steps_per_epoch = 4}, {{"every_steps", 2}, {"every_epochs", 1}});
  const std::string said = testing::internal::GetCapturedStderr();
  const std::string last = "saved " + checkpoints() + "/model-4.h5";
  EXPECT_NE(said.find(last), std::string::npos) << said;
  EXPECT_EQ(said.find(last), said.rfind(last)) << said;
}

/// A signal asks after steps 3 and 7, the second one in a resumed run.
TEST_F(ModelSaverTest, keeps_checkpoints_that_a_signal_asked_for) {
  FakeTrainer trainer;
  const auto run_to = [&](int64_t epochs, int64_t asked, const std::string& resume) {
    TestRun test({.max_epoch = epochs, .steps_per_epoch = 1}, trainer, folder_.str());
    test.options.save_request = [&] {
      return test.loop().state().global_step() == asked ? std::string("SIGUSR1") : std::string();
    };
    test.add("ModelSaver", {{"keep", 2}, {"every_epochs", 2}});
    if (resume.empty())
      test.go();
    else
      test.go_on_from(resume);
  };
  run_to(6, 3, "");
  EXPECT_THAT(steps(), ElementsAre(6, 4, 3));
  run_to(12, 7, checkpoints() + "/model-6.h5");
  EXPECT_THAT(steps(), ElementsAre(12, 10, 7, 3));
}

/// An epoch takes 40 minutes: the first checkpoint after each 90 minutes stays. The second run is a resumed
/// one.
TEST_F(ModelSaverTest, keeps_checkpoints_at_a_distance_in_time) {
  FakeTrainer trainer;
  double now_s = 1e9;
  const auto run_to = [&](int64_t epochs, const ConfigNode& params, const std::string& resume) {
    TestRun test({.max_epoch = epochs, .steps_per_epoch = 1}, trainer, folder_.str());
    test.options.clock = [&] { return now_s; };
    test.on_step("time passes", [&](tpack::Run&) { now_s += 2400; });
    test.add("ModelSaver", params);
    if (resume.empty())
      test.go();
    else
      test.go_on_from(resume);
  };
  const ConfigNode hours{{"keep", 2}, {"keep_every_hours", 1.5}};
  run_to(7, hours, "");
  EXPECT_THAT(steps(), ElementsAre(7, 6, 5, 3)) << "those that stay do not count";
  run_to(13, hours, checkpoints() + "/model-7.h5");
  EXPECT_THAT(steps(), ElementsAre(13, 12, 11, 9, 6, 3));
  run_to(16, {{"keep", 2}}, checkpoints() + "/model-13.h5");
  EXPECT_THAT(steps(), ElementsAre(16, 15, 12, 9, 6, 3)) << "also if no others shall stay";
}

/// The save of step 3, which would stay, fails. The run learns this before or after it asks for that of
/// step 4.
TEST_F(ModelSaverTest, keeps_a_later_checkpoint_if_the_save_of_one_that_stays_fails) {
  FailingFileIo counting(0);
  run({.max_epoch = 1, .steps_per_epoch = 1}, {}, counting);
  std::filesystem::remove_all(checkpoints());
  FailingFileIo failing(2 * counting.calls() + 1, ENOSPC);
  FakeRun test({.max_epoch = 7, .steps_per_epoch = 1}, folder_.str());
  double now_s = 0;
  test.options.clock = [&] { return now_s; };
  test.on_step("time passes", [&](tpack::Run&) { now_s += 3600; });
  test.options.io = &failing;
  test.add("ModelSaver", {{"keep", 1}, {"keep_every_hours", 3}});
  test.go();
  EXPECT_THAT(steps(), testing::AnyOf(ElementsAre(7, 6, 4), ElementsAre(7, 5)));
}

TEST_F(ModelSaverTest, never_removes_the_one_it_wrote_for_damaged_ones_of_later_steps) {
  std::filesystem::create_directories(checkpoints());
  for (const int step : {100, 200, 300, 400})
    write_content(checkpoints() + "/" + checkpoint_name(step), "damaged");
  run({.max_epoch = 3, .steps_per_epoch = 1}, {{"keep", 2}});
  EXPECT_THAT(steps(), ElementsAre(400, 300, 200, 100, 3, 2));
  EXPECT_EQ(newest_valid_checkpoint(checkpoints())->step, 3);
}

TEST_F(ModelSaverTest, a_save_that_fails_leaves_the_older_ones_and_the_run_continues) {
  FakeRun count({.max_epoch = 1, .steps_per_epoch = 1}, folder_.str());
  FailingFileIo counting(0);
  count.options.io = &counting;
  count.add("ModelSaver").go();
  const int calls = counting.calls();
  ASSERT_GT(calls, 2);
  for (int n = 1; n <= calls; ++n) {
    FailingFileIo io(calls + n, ENOSPC);  // in the second save
    const LoopResult result = run({.max_epoch = 2, .steps_per_epoch = 1}, {{"keep", 1}}, io);
    EXPECT_EQ(result.ending, StopReason::kFinished);
    if (result.lacks_a_save) {
      EXPECT_THAT(steps(), testing::Contains(1)) << "call " << n;
    }
    EXPECT_NE(newest_valid_checkpoint(checkpoints()), std::nullopt) << "call " << n;
    std::filesystem::remove_all(checkpoints());
  }
}

TEST_F(ModelSaverTest, a_save_that_fails_is_told_and_stops_the_run_if_requested) {
  FailingFileIo first(1, ENOSPC);
  EXPECT_TRUE(run({.max_epoch = 1, .steps_per_epoch = 1}, {}, first).lacks_a_save);
  FailingFileIo io(1, ENOSPC);
  EXPECT_THROW(run({.max_epoch = 2, .steps_per_epoch = 1}, {{"on_error", "stop"}}, io), ResourceError);
  EXPECT_THAT(steps(), IsEmpty());
  EXPECT_FALSE(FakeRun({.max_epoch = 1, .steps_per_epoch = 1}).add("ModelSaver").go().lacks_a_save)
      << "without a folder";
}

TEST(ModelSaverAlone, saves_no_nans) {
  for (const std::string every : {"every_steps", "every_epochs"}) {
    const TemporaryFolder folder;
    FakeRun run({.max_epoch = 4, .steps_per_epoch = 1});
    run.trainer.on_step = [&](int64_t step) {
      if (step == 1) run.trainer.weights().data<float>()[0] = NAN;
    };
    run.options.folder = folder.str();
    run.add("ModelSaver", {{every, 1}, {"keep", 1}});
    EXPECT_THROW(run.go(), Diverged);
    EXPECT_TRUE(std::filesystem::exists(folder / "checkpoints/model-1.h5"));
    EXPECT_FALSE(std::filesystem::exists(folder / "checkpoints/model-2.h5"));
  }
}

/// A callback may end a run for its NaNs: it goes on from the checkpoint that there was.
TEST(ModelSaverAlone, saves_no_nans_at_the_end) {
  const TemporaryFolder folder;
  FakeRun run({.max_epoch = 4, .steps_per_epoch = 4});
  run.trainer.on_step = [&](int64_t step) {
    if (step == 2) run.trainer.weights().data<float>()[0] = NAN;
  };
  run.options.folder = folder.str();
  run.add("ModelSaver", {{"every_steps", 2}, {"keep", 1}});
  run.on_step("A", [](tpack::Run& at) {
    if (at.global_step() == 3) at.request_stop("enough");
  });
  testing::internal::CaptureStderr();
  const LoopResult result = run.go();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(result.ending, StopReason::kStopped);
  EXPECT_TRUE(says(said, {"saves no checkpoint at the end: variable w"}));
  EXPECT_TRUE(std::filesystem::exists(folder / "checkpoints/model-2.h5"));
  EXPECT_FALSE(std::filesystem::exists(folder / "checkpoints/model-3.h5"));
}

TEST(ModelSaverAlone, saves_each_epoch_of_a_run_without_steps) {
  const TemporaryFolder folder;
  FakeRun run({.max_epoch = 3, .steps_per_epoch = 0}, folder.str());
  run.add("ModelSaver").go();
  EXPECT_EQ(load_checkpoint(folder / "checkpoints/model-0.h5").epoch, 3);
}

std::string traces_with_and_without_a_failed_save(const std::string& item) {
  FailingFileIo failing(1);
  const std::string failed = traces_of(item, failing);
  return traces_of(item) + "\n" + failed;
}

const live::Fields kModelSaver("callback", "ModelSaver",
                               {.base = "{keep: 3, every_epochs: 1}",
                                .values = {{"keep_every_hours", "1.0e-12"}},
                                .build = traces_with_and_without_a_failed_save});

}  // namespace
}  // namespace tpack
