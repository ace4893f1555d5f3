#include <gmock/gmock-matchers.h>

#include "config/yaml_reader.h"
#include "support/captured_log.h"
#include "support/errors.h"
#include "support/fake_trainer.h"
#include "support/live_fields.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::FloatEq;

/// The learning rate of each step of a run with these schedules; without them, it is 0.1.
std::vector<float> rates(const std::vector<std::string>& schedules, RunLength length) {
  std::vector<float> seen;
  FakeRun run(length);
  run.trainer.on_step = [&](int64_t) { seen.push_back(static_cast<float>(run.trainer.learning_rate())); };
  for (const std::string& params : schedules)
    run.add("ScheduledHyperParamSetter", parse_yaml(params, "s.yaml"));
  run.go();
  return seen;
}

TEST(SetterTest, sets_each_value_after_its_epoch) {
  struct Case {
    std::string values;
    RunLength length;
    std::vector<float> rates;
  };
  for (const Case& c : std::vector<Case>{
           {"[[1, 0.2], [3, 0.4]]", {.max_epoch = 4, .steps_per_epoch = 1}, {0.1F, 0.2F, 0.2F, 0.4F}},
           {"[[0, 0.7], [1, 0.2]]", {.max_epoch = 2, .steps_per_epoch = 1}, {0.7F, 0.2F}},
           {"[[0, 1], [2, 0.25]], interp: exponential",
            {.max_epoch = 4, .steps_per_epoch = 1},
            {1, 0.5F, 0.25F, 0.25F}},
           {"[[0, 1], [2, 0.25]], interp: cosine",
            {.max_epoch = 4, .steps_per_epoch = 1},
            {1, 0.625F, 0.25F, 0.25F}},
           {"[[10, 0.2]], set_at_beginning: false",  // at the very start
            {.starting_epoch = 11, .max_epoch = 11, .steps_per_epoch = 1},
            {0.2F}},
           {"[[10, 0.2], [20, 0]]", {.starting_epoch = 40, .max_epoch = 40, .steps_per_epoch = 1}, {0}}})
    EXPECT_EQ(rates({"{param: learning_rate, values: " + c.values + "}"}, c.length), c.rates) << c.values;
}

TEST(SetterTest, linear_steps_begin_at_the_first_point_and_end_at_the_last) {
  const std::vector<float> seen = rates(
      {"{param: learning_rate, values: [[30, 0.3], [40, 0.4], [50, 0.5]], interp: linear, step_based: true}"},
      {.max_epoch = 1, .steps_per_epoch = 60});
  EXPECT_FLOAT_EQ(seen[29], 0.1F);  // nothing before 30
  EXPECT_FLOAT_EQ(seen[30], 0.3F);
  EXPECT_FLOAT_EQ(seen[45], 0.45F);
  EXPECT_FLOAT_EQ(seen[50], 0.5F);
  EXPECT_FLOAT_EQ(seen[59], 0.5F);
}

TEST(SetterTest, an_epoch_schedule_sets_exactly_as_often_as_it_has_points) {
  std::vector<float> seen = rates({"{param: learning_rate, values: [[10, 0.2], [20, 0.3], [30, 0.4]]}"},
                                  {.max_epoch = 50, .steps_per_epoch = 1});
  const auto changes = std::unique(seen.begin(), seen.end()) - seen.begin();
  EXPECT_EQ(changes, 1 + 3);
  EXPECT_FLOAT_EQ(seen[static_cast<size_t>(changes) - 1], 0.4F);
}

/// Each of the two schedules would set its own last value again.
TEST(SetterTest, a_resumed_run_continues_with_the_value_of_its_checkpoint) {
  const TemporaryFolder folder;
  const auto add_setters = [](TestRun& run) {
    run.add("ScheduledHyperParamSetter", parse_yaml("{param: learning_rate, values: [[1, 0.01]]}", "s.yaml"));
    run.add("ScheduledHyperParamSetter",
            parse_yaml("{param: learning_rate, values: [[0, 0.5], [8, 0.001]], step_based: true}", "s.yaml"));
  };
  FakeRun first({.max_epoch = 3, .steps_per_epoch = 4}, folder.str());
  add_setters(first);
  first.add("ModelSaver").go();
  EXPECT_FLOAT_EQ(static_cast<float>(first.trainer.learning_rate()), 0.001F);

  std::vector<float> seen;
  FakeRun second({.max_epoch = 4, .steps_per_epoch = 4});
  second.trainer.on_step = [&](int64_t /*step*/) {
    seen.push_back(static_cast<float>(second.trainer.learning_rate()));
  };
  add_setters(second);
  second.go_on_from(folder / "checkpoints/model-12.h5");
  EXPECT_THAT(seen, ElementsAre(0.001F, 0.001F, 0.001F, 0.001F));
}

/// What a run that continues after epoch 3 with `params` logs; `before` is the schedule of the run until
/// then.
std::string said_when_resumed(const std::string& before, const std::string& params) {
  const TemporaryFolder folder;
  FakeRun first({.max_epoch = 3, .steps_per_epoch = 4}, folder.str());
  if (!before.empty()) first.add("ScheduledHyperParamSetter", parse_yaml(before, "s.yaml"));
  first.add("ModelSaver").go();
  testing::internal::CaptureStderr();
  FakeRun second({.max_epoch = 4, .steps_per_epoch = 4});
  second.add("ScheduledHyperParamSetter", parse_yaml(params, "s.yaml"))
      .go_on_from(folder / "checkpoints/model-12.h5");
  return testing::internal::GetCapturedStderr();
}

TEST(SetterTest, says_that_a_resumed_run_does_not_follow_a_new_schedule_at_once) {
  const std::string plain = "{param: learning_rate, values: [[1, 0.2], [5, 0.3]]}";
  const auto not_followed = testing::HasSubstr("according to its schedule, which is not in the checkpoint");
  EXPECT_TRUE(says(said_when_resumed("", plain), {"warning: ", "to change it earlier, add a"}));
  EXPECT_THAT(said_when_resumed(plain, "{param: learning_rate, values: [[2, 0.5]]}"), not_followed);
  EXPECT_THAT(said_when_resumed(plain, plain), testing::Not(not_followed));
  EXPECT_THAT(said_when_resumed(plain, "{param: learning_rate, values: [[1, 0.2], [4, 0.9]]}"),
              testing::Not(not_followed))
      << "so far they are the same";
  const std::string by_steps = "{param: learning_rate, values: [[3, 0.2], [8, 0.4]], step_based: true}";
  EXPECT_THAT(said_when_resumed(by_steps, by_steps), testing::Not(not_followed));
  EXPECT_THAT(said_when_resumed(plain, by_steps), not_followed);
}

TEST(SetterTest, the_later_of_two_on_one_variable_wins_at_the_same_event) {
  EXPECT_THAT(rates({"{param: learning_rate, values: [[0, 0.01], [2, 0.5]], interp: linear}",
                     "{param: learning_rate, values: [[2, 0.3]]}"},
                    {.max_epoch = 3, .steps_per_epoch = 1}),
              ElementsAre(FloatEq(0.01F), FloatEq(0.255F), FloatEq(0.3F)));
}

TEST(SetterTest, rejects_an_unknown_parameter_and_ranks) {
  const RunLength length = {.max_epoch = 1, .steps_per_epoch = 1};
  EXPECT_TRUE(says(error_from([&] { rates({"{param: learning_rat, values: [[1, 0.2]]}"}, length); }),
                   {"s.yaml:1:9:", "'learning_rat'", "did you mean 'learning_rate'?"}));
  EXPECT_TRUE(says(error_from([&] { rates({"{param: a, values: [[1, 2]], ranks: chief}"}, length); }),
                   {"s.yaml:1:1:", "'ranks' must be all"}));
}

TEST(SetterTest, warns_of_points_after_the_end) {
  testing::internal::CaptureStderr();
  rates({"{param: learning_rate, values: [[1, 0.2], [2, 0.1]]}"}, {.max_epoch = 2, .steps_per_epoch = 5});
  EXPECT_TRUE(says(testing::internal::GetCapturedStderr(), {"s.yaml:1:9:", "[2, 0.1] has no effect"}));
  testing::internal::CaptureStderr();
  rates({"{param: learning_rate, values: [[9, 0.2], [10, 0.1]], step_based: true}"},
        {.max_epoch = 2, .steps_per_epoch = 5});
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(says(text, {"[10, 0.1] has no effect: the run ends with step 10 (max_epoch)\n"}));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("[9, 0.2] has no effect")));
}

/// The reference tests of tensorpack (callbacks/param_test.py): a run that begins with epoch 90.
TEST(SetterTest, from_epoch_90_on_the_last_value_is_set_once_at_step_0) {
  const std::string params = "{param: learning_rate, values: [[10, 0.2], [20, 0.3], [30, 0.4]]";
  const RunLength length = {.starting_epoch = 90, .max_epoch = 99, .steps_per_epoch = 10};
  const CapturedLog log;
  EXPECT_EQ(rates({params + "}"}, length), std::vector<float>(100, 0.4F));
  EXPECT_TRUE(says(log.text(), {"learning_rate changes from 0.1 to 0.4 after global_step 0\n"}));
  EXPECT_THAT(log.text(), testing::Not(testing::HasSubstr("after global_step 1")));
  EXPECT_EQ(rates({params + ", set_at_beginning: false}"}, length), std::vector<float>(100, 0.1F));
}

const live::Fields kScheduledHyperParamSetter(
    "callback", "ScheduledHyperParamSetter",
    {.base = "{param: learning_rate, values: [[1, 0.5], [4, 0.25]]}",
     .values = {{"param", "momentum"}, {"values", "[[1, 0.5], [5, 0.25]]"}, {"set_at_beginning", "false"}}});

}  // namespace
}  // namespace tpack
