#include <gmock/gmock.h>

#include "config/yaml_reader.h"
#include "support/fake_trainer.h"

namespace tpack {
namespace {

TEST(ProgressBar, prints_no_line_a_step_where_stderr_is_no_terminal) {
  FakeTrainer trainer;
  trainer.figures["cost"] = [](int64_t) { return 1.0; };
  TestRun run({.max_epoch = 2, .steps_per_epoch = 100}, trainer);
  testing::internal::CaptureStderr();
  run.add("ProgressBar").go();
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("/100")));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("\r")));
}

TEST(ProgressBar, shows_no_cost_where_the_trainer_has_none) {
  FakeTrainer trainer;
  TestRun run({.max_epoch = 1, .steps_per_epoch = 1}, trainer);
  EXPECT_EQ(run.add("ProgressBar").go().ending, Ending::kFinished);
}

TEST(ProgressBar, refuses_a_statistic_that_is_asked_for_and_not_there) {
  FakeTrainer trainer;
  trainer.figures["cost"] = [](int64_t) { return 1.0; };
  TestRun run({.max_epoch = 1, .steps_per_epoch = 1}, trainer);
  run.add("ProgressBar", parse_yaml("name: cst", "p.yaml"));
  EXPECT_THROW(run.go(), ConfigError);
}

}  // namespace
}  // namespace tpack
