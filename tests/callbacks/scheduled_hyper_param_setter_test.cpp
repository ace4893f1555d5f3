#include <gmock/gmock.h>

#include "config/yaml_reader.h"
#include "support/captured_log.h"
#include "support/fake_trainer.h"
#include "support/live_fields.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::FloatEq;

/// Runs a schedule and records the learning rate of each step.
class SetterTest : public testing::Test {
 protected:
  std::vector<float> rates(const std::string& params, RunLength length) {
    std::vector<float> seen;
    trainer_.on_step = [&](int64_t /*step*/) {
      seen.push_back(static_cast<float>(trainer_.learning_rate()));
    };
    TestRun run(length, trainer_);
    run.add("ScheduledHyperParamSetter", parse_yaml(params, "s.yaml")).go();
    return seen;
  }

  FakeTrainer trainer_;  // learning rate 0.1
};

TEST_F(SetterTest, a_value_is_set_after_its_epoch) {
  EXPECT_THAT(
      rates("{param: learning_rate, values: [[1, 0.2], [3, 0.4]]}", {.max_epoch = 4, .steps_per_epoch = 1}),
      ElementsAre(0.1F, 0.2F, 0.2F, 0.4F));
}

TEST_F(SetterTest, epoch_0_is_before_the_first) {
  EXPECT_THAT(
      rates("{param: learning_rate, values: [[0, 0.7], [1, 0.2]]}", {.max_epoch = 2, .steps_per_epoch = 1}),
      ElementsAre(0.7F, 0.2F));
}

TEST_F(SetterTest, linear_steps_begin_at_the_first_point_and_end_at_the_last) {
  const std::vector<float> seen = rates(
      "{param: learning_rate, values: [[30, 0.3], [40, 0.4], [50, 0.5]], interp: linear, step_based: true}",
      {.max_epoch = 1, .steps_per_epoch = 60});
  EXPECT_FLOAT_EQ(seen[29], 0.1F);  // nothing before 30
  EXPECT_FLOAT_EQ(seen[30], 0.3F);
  EXPECT_FLOAT_EQ(seen[45], 0.45F);
  EXPECT_FLOAT_EQ(seen[50], 0.5F);
  EXPECT_FLOAT_EQ(seen[59], 0.5F);
}

TEST_F(SetterTest, an_epoch_schedule_sets_exactly_as_often_as_it_has_points) {
  std::vector<float> seen = rates("{param: learning_rate, values: [[10, 0.2], [20, 0.3], [30, 0.4]]}",
                                  {.max_epoch = 50, .steps_per_epoch = 1});
  const auto changes = std::unique(seen.begin(), seen.end()) - seen.begin();
  EXPECT_EQ(changes, 1 + 3);
  EXPECT_FLOAT_EQ(seen[static_cast<size_t>(changes) - 1], 0.4F);
}

/// Each of the two schedules would set its own last value again.
TEST_F(SetterTest, a_resumed_run_continues_with_the_value_of_its_checkpoint) {
  const TemporaryFolder folder;
  const auto add_setters = [](TestRun& run) {
    run.add("ScheduledHyperParamSetter", parse_yaml("{param: learning_rate, values: [[1, 0.01]]}", "s.yaml"));
    run.add("ScheduledHyperParamSetter",
            parse_yaml("{param: learning_rate, values: [[0, 0.5], [8, 0.001]], step_based: true}", "s.yaml"));
  };
  TestRun first({.max_epoch = 3, .steps_per_epoch = 4}, trainer_);
  first.options.folder = folder.str();
  add_setters(first);
  first.add("ModelSaver").go();
  EXPECT_FLOAT_EQ(static_cast<float>(trainer_.learning_rate()), 0.001F);

  std::vector<float> seen;
  FakeTrainer trainer;
  trainer.on_step = [&](int64_t /*step*/) { seen.push_back(static_cast<float>(trainer.learning_rate())); };
  TestRun second({.max_epoch = 4, .steps_per_epoch = 4}, trainer);
  add_setters(second);
  second.go_on_from(folder / "checkpoints/model-12.h5");
  EXPECT_THAT(seen, ElementsAre(0.001F, 0.001F, 0.001F, 0.001F));
}

/// What a run that continues after epoch 3 with `params` logs; `before` is the schedule of the run until
/// then.
std::string said_when_resumed(const std::string& before, const std::string& params) {
  const TemporaryFolder folder;
  FakeTrainer trainer;
  TestRun first({.max_epoch = 3, .steps_per_epoch = 4}, trainer);
  first.options.folder = folder.str();
  if (!before.empty()) first.add("ScheduledHyperParamSetter", parse_yaml(before, "s.yaml"));
  first.add("ModelSaver").go();
  testing::internal::CaptureStderr();
  FakeTrainer again;
  TestRun second({.max_epoch = 4, .steps_per_epoch = 4}, again);
  second.add("ScheduledHyperParamSetter", parse_yaml(params, "s.yaml"))
      .go_on_from(folder / "checkpoints/model-12.h5");
  return testing::internal::GetCapturedStderr();
}

TEST_F(SetterTest, says_that_a_resumed_run_does_not_follow_a_new_schedule_at_once) {
  const std::string plain = "{param: learning_rate, values: [[1, 0.2], [5, 0.3]]}";
  const auto not_followed = testing::HasSubstr("according to its schedule, which is not in the checkpoint");
  EXPECT_THAT(said_when_resumed("", plain),
              testing::HasSubstr(
                  "warning: according to its schedule, which is not in the checkpoint, learning_rate should "
                  "be 0.2 now; it stays 0.1, as in the checkpoint, until the schedule sets it again; "
                  "to change it earlier, add a point at a later epoch"));
  EXPECT_THAT(said_when_resumed(plain, "{param: learning_rate, values: [[2, 0.5]]}"), not_followed);
  EXPECT_THAT(said_when_resumed(plain, plain), testing::Not(not_followed));
  EXPECT_THAT(said_when_resumed(plain, "{param: learning_rate, values: [[1, 0.2], [4, 0.9]]}"),
              testing::Not(not_followed))
      << "so far they are the same";
  const std::string by_steps = "{param: learning_rate, values: [[3, 0.2], [8, 0.4]], step_based: true}";
  EXPECT_THAT(said_when_resumed(by_steps, by_steps), testing::Not(not_followed));
  EXPECT_THAT(said_when_resumed(plain, by_steps), not_followed);
}

TEST_F(SetterTest, a_run_that_starts_late_catches_up) {
  const char* params = "{param: learning_rate, values: [[10, 0.2], [20, 0.3], [30, 0.4]]}";
  EXPECT_THAT(rates(params, {.starting_epoch = 91, .max_epoch = 92, .steps_per_epoch = 1}),
              ElementsAre(0.4F, 0.4F));
}

TEST_F(SetterTest, a_run_that_starts_late_can_be_left_as_it_is) {
  const char* params = "{param: learning_rate, values: [[10, 0.2], [30, 0.4]], set_at_beginning: false}";
  EXPECT_THAT(rates(params, {.starting_epoch = 91, .max_epoch = 91, .steps_per_epoch = 1}),
              ElementsAre(0.1F));
}

TEST_F(SetterTest, a_point_at_the_very_start_is_set_whatever_set_at_beginning_says) {
  const char* params = "{param: learning_rate, values: [[10, 0.2]], set_at_beginning: false}";
  EXPECT_THAT(rates(params, {.starting_epoch = 11, .max_epoch = 11, .steps_per_epoch = 1}),
              ElementsAre(0.2F));
}

TEST_F(SetterTest, zero_is_a_value_when_it_catches_up) {
  EXPECT_THAT(rates("{param: learning_rate, values: [[10, 0.2], [20, 0]]}",
                    {.starting_epoch = 40, .max_epoch = 40, .steps_per_epoch = 1}),
              ElementsAre(0.0F));
}

TEST_F(SetterTest, the_later_of_two_on_one_variable_wins_at_the_same_event) {
  std::vector<float> seen;
  trainer_.on_step = [&](int64_t /*step*/) { seen.push_back(static_cast<float>(trainer_.learning_rate())); };
  TestRun run({.max_epoch = 3, .steps_per_epoch = 1}, trainer_);
  run.add("ScheduledHyperParamSetter",
          parse_yaml("{param: learning_rate, values: [[0, 0.01], [2, 0.5]], interp: linear}", "s.yaml"));
  run.add("ScheduledHyperParamSetter", parse_yaml("{param: learning_rate, values: [[2, 0.3]]}", "s.yaml"));
  run.go();
  EXPECT_THAT(seen, ElementsAre(FloatEq(0.01F), FloatEq(0.255F), FloatEq(0.3F)));
}

TEST_F(SetterTest, an_unknown_parameter_is_rejected_before_training) {
  try {
    rates("{param: learning_rat, values: [[1, 0.2]]}", {.max_epoch = 1, .steps_per_epoch = 1});
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "s.yaml:1:9: unknown hyper-parameter 'learning_rat'; did you mean 'learning_rate'?");
  }
}

TEST_F(SetterTest, warns_of_points_after_the_end) {
  testing::internal::CaptureStderr();
  rates("{param: learning_rate, values: [[1, 0.2], [2, 0.1]]}", {.max_epoch = 2, .steps_per_epoch = 5});
  EXPECT_THAT(
      testing::internal::GetCapturedStderr(),
      testing::HasSubstr("s.yaml:1:9: callback ScheduledHyperParamSetter: [2, 0.1] has no effect: the "
                         "run ends with epoch 2 (max_epoch)\n"));
  testing::internal::CaptureStderr();
  rates("{param: learning_rate, values: [[9, 0.2], [10, 0.1]], step_based: true}",
        {.max_epoch = 2, .steps_per_epoch = 5});
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, testing::HasSubstr("[10, 0.1] has no effect: the run ends with step 10 (max_epoch)\n"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("[9, 0.2] has no effect")));
}

/// The reference tests of tensorpack (callbacks/param_test.py): a run that begins with epoch 90.
TEST_F(SetterTest, from_epoch_90_on_the_last_value_is_set_once_at_step_0) {
  const char* params = "{param: learning_rate, values: [[10, 0.2], [20, 0.3], [30, 0.4]]}";
  const CapturedLog log;
  const std::vector<float> seen =
      rates(params, {.starting_epoch = 90, .max_epoch = 99, .steps_per_epoch = 10});
  EXPECT_EQ(seen, std::vector<float>(100, 0.4F));
  EXPECT_THAT(log.text(), testing::HasSubstr("learning_rate changes from 0.1 to 0.4 after global_step 0\n"));
  EXPECT_THAT(log.text(), testing::Not(testing::HasSubstr("after global_step 1")));
}

TEST_F(SetterTest, from_epoch_90_on_it_is_never_set_without_set_at_beginning) {
  const char* params =
      "{param: learning_rate, values: [[10, 0.2], [20, 0.3], [30, 0.4]], set_at_beginning: false}";
  EXPECT_EQ(rates(params, {.starting_epoch = 90, .max_epoch = 99, .steps_per_epoch = 10}),
            std::vector<float>(100, 0.1F));
}

TEST_F(SetterTest, a_value_after_epoch_30_acts_from_epoch_31_on) {
  const std::vector<float> seen =
      rates("{param: learning_rate, values: [[30, 0.3]]}", {.max_epoch = 31, .steps_per_epoch = 2});
  EXPECT_EQ(seen[59], 0.1F);  // the last step of epoch 30
  EXPECT_EQ(seen[60], 0.3F);
}

TEST_F(SetterTest, interpolates_between_epochs_too) {
  EXPECT_THAT(rates("{param: learning_rate, values: [[0, 1], [2, 0.25]], interp: exponential}",
                    {.max_epoch = 4, .steps_per_epoch = 1}),
              ElementsAre(1, 0.5F, 0.25F, 0.25F));
  EXPECT_THAT(rates("{param: learning_rate, values: [[0, 1], [2, 0.25]], interp: cosine}",
                    {.max_epoch = 4, .steps_per_epoch = 1}),
              ElementsAre(1, 0.625F, 0.25F, 0.25F));
}

TEST_F(SetterTest, has_no_choice_of_ranks) {
  try {
    Registry<Callback>::make("ScheduledHyperParamSetter",
                             parse_yaml("{param: a, values: [[1, 2]], ranks: chief}", "s.yaml"));
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "s.yaml:1:1: 'ranks' must be all: a hyper-parameter is the same on all ranks");
  }
}

TEST_F(SetterTest, runs_on_every_rank) {
  const auto setter = Registry<Callback>::make("ScheduledHyperParamSetter",
                                               parse_yaml("{param: a, values: [[1, 2]]}", "s.yaml"));
  EXPECT_EQ(setter->rules().ranks, Ranks::kAll);
}

const live::Fields kScheduledHyperParamSetter(
    "callback", "ScheduledHyperParamSetter",
    {.base = "{param: learning_rate, values: [[1, 0.5], [4, 0.25]]}",
     .values = {{"param", "momentum"}, {"values", "[[1, 0.5], [5, 0.25]]"}, {"set_at_beginning", "false"}}});

}  // namespace
}  // namespace tpack
