#include "train/follow_schedules.h"

#include <gmock/gmock-matchers.h>

#include "config/yaml_reader.h"
#include "support/captured_log.h"
#include "support/errors.h"
#include "support/fake_trainer.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::shared_ptr<const Schedule> schedule(const std::string& yaml) {
  return Registry<Schedule>::make_item(parse_yaml(yaml, "s.yaml"));
}

class FollowSchedulesTest : public testing::Test {
 protected:
  FollowSchedulesTest() {
    trainer_.on_step = [&](int64_t /*step*/) {
      rates_.push_back(static_cast<float>(trainer_.learning_rate()));
    };
  }
  std::string error_of_run(RunLength length) {
    return error_from([&] { TestRun(length, trainer_).go(); });
  }

  FakeTrainer trainer_;
  std::vector<float> rates_;
};

TEST_F(FollowSchedulesTest, each_step_has_its_number) {
  trainer_.schedules_of["learning_rate"] = schedule("Linear: {start: 1, end: 0}");
  TestRun({.max_epoch = 2, .steps_per_epoch = 2}, trainer_).go();
  EXPECT_THAT(rates_, ElementsAre(1, 0.75F, 0.5F, 0.25F));
}

TEST_F(FollowSchedulesTest, a_resumed_run_goes_on_where_it_was) {
  trainer_.schedules_of["learning_rate"] = schedule("Linear: {start: 1, end: 0}");
  const TemporaryFolder folder;
  TestRun first({.max_epoch = 2, .steps_per_epoch = 2}, trainer_, folder.str());
  first.options.until_epoch = 1;
  first.add("ModelSaver").go();
  rates_.clear();
  TestRun({.max_epoch = 2, .steps_per_epoch = 2}, trainer_)
      .go_on_from(folder.str() + "/checkpoints/model-2.h5");
  EXPECT_THAT(rates_, ElementsAre(0.5F, 0.25F));
}

/// Such as a run that is made longer, with a schedule whose length stays.
TEST_F(FollowSchedulesTest, says_that_it_ends_long_before_the_run) {
  const auto log_of = [&](const std::string& item) {
    const CapturedLog log;
    trainer_.schedules_of["learning_rate"] = schedule(item);
    TestRun({.max_epoch = 4, .steps_per_epoch = 2}, trainer_).go();
    return log.text();
  };
  EXPECT_TRUE(says(log_of("Cosine: {start: 1, length: 2}"), {"the schedule of learning_rate ends"}));
  for (const char* fine :
       {"Cosine: {start: 1}", "Cosine: {start: 1, length: 4}", "Cosine: {start: 1, end: 0.1, length: 2}"})
    EXPECT_THAT(log_of(fine), testing::Not(HasSubstr("ends after"))) << fine;
}

/// As with a batch size that changes: epochs of half as many steps.
TEST_F(FollowSchedulesTest, goes_on_at_the_same_part_in_epochs_of_another_length) {
  trainer_.schedules_of["learning_rate"] = schedule("Linear: {start: 1, end: 0}");
  const TemporaryFolder folder;
  TestRun first({.max_epoch = 4, .steps_per_epoch = 4}, trainer_, folder.str());
  first.options.until_epoch = 2;
  first.add("ModelSaver").go();
  rates_.clear();
  TestRun second({.max_epoch = 4, .steps_per_epoch = 2}, trainer_, folder.str());
  second.options.until_epoch = 3;
  second.add("ModelSaver").go_on_from(folder.str() + "/checkpoints/model-8.h5");
  EXPECT_THAT(rates_, ElementsAre(0.5F, 0.375F));
  rates_.clear();
  TestRun({.max_epoch = 4, .steps_per_epoch = 2}, trainer_)
      .go_on_from(folder.str() + "/checkpoints/model-10.h5");
  EXPECT_THAT(rates_, ElementsAre(0.25F, 0.125F));
}

TEST_F(FollowSchedulesTest, says_that_a_warm_up_does_not_end) {
  const auto log_of = [&](const std::string& warmup) {
    const CapturedLog log;
    trainer_.schedules_of["learning_rate"] = schedule("Constant: {value: 1, warmup: " + warmup + "}");
    TestRun({.max_epoch = 2, .steps_per_epoch = 2}, trainer_).go();
    return log.text();
  };
  EXPECT_TRUE(says(log_of("50"), {"the warm-up of learning_rate takes", "a plain number means epochs,"}));
  EXPECT_THAT(log_of("{steps: 3}"), testing::Not(HasSubstr("warm-up")));
}

TEST_F(FollowSchedulesTest, a_callback_cannot_set_it_as_well) {
  trainer_.schedules_of["learning_rate"] = schedule("Constant: 1");
  TestRun run({.max_epoch = 1, .steps_per_epoch = 1}, trainer_);
  run.add("ScheduledHyperParamSetter", parse_yaml("{param: learning_rate, values: [[1, 0.2]]}", "s.yaml"));
  EXPECT_THAT(error_from([&] { run.go(); }), HasSubstr("learning_rate has a schedule in the config"));
}

TEST_F(FollowSchedulesTest, numbers_that_cannot_be_are_found_before_the_run) {
  trainer_.schedules_of["learning_rate"] = schedule("Linear: {start: 1, end: -1}");
  EXPECT_TRUE(says(error_of_run({.max_epoch = 2, .steps_per_epoch = 100}),
                   {"the schedule of learning_rate", "at step 101", "must be at least 0"}));
  EXPECT_TRUE(rates_.empty());
}

TEST_F(FollowSchedulesTest, a_run_without_an_end_is_warned_of) {
  const auto log_of = [&](const std::string& yaml) {
    trainer_.schedules_of["learning_rate"] = schedule(yaml);
    CapturedLog log;
    TestRun run({.steps_per_epoch = 2}, trainer_);
    run.loop();
    return log.text();
  };
  EXPECT_THAT(log_of("Linear: {start: 1, end: 0}"), HasSubstr("set max_epoch, or `length` of the schedule"));
  EXPECT_THAT(log_of("Linear: {start: 1, end: 0, length: 5}"), testing::Not(HasSubstr("schedule")));
  EXPECT_THAT(log_of("Constant: 1"), testing::Not(HasSubstr("schedule")));
}

}  // namespace
}  // namespace tpack
