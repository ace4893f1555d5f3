#include <gmock/gmock-matchers.h>

#include "callbacks/callback_scenes.h"
#include "config/yaml_reader.h"
#include "support/fake_trainer.h"
#include "support/terminal_stderr.h"

namespace tpack {
namespace {

TEST(ProgressBar, prints_no_line_per_step_without_a_terminal) {
  FakeRun run({.max_epoch = 2, .steps_per_epoch = 100});
  run.trainer.figures["cost"] = [](int64_t) { return 1.0; };
  testing::internal::CaptureStderr();
  run.add("ProgressBar").go();
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("/100")));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("\r")));
}

TEST(ProgressBar, shows_moving_means_of_all_figures_as_wide_as_the_terminal) {
  FakeRun run({.max_epoch = 1, .steps_per_epoch = 2});
  run.trainer.figures["accuracy"] = [](int64_t) { return 0.5; };
  run.trainer.figures["cost"] = [](int64_t step) { return static_cast<double>(step); };
  run.add("ProgressBar");
  TerminalStderr wide(120);
  run.go();
  // 0.95 of the old mean, without the bias of its start: (0.95 * 1 + 2) / (0.95 + 1).
  EXPECT_THAT(wide.text(), testing::HasSubstr("accuracy 0.5, cost 1.513\033[K\r\n"));
  FakeRun again({.max_epoch = 1, .steps_per_epoch = 2});
  again.trainer.figures = run.trainer.figures;
  again.add("ProgressBar");
  TerminalStderr narrow(20);
  again.go();
  const std::string text = narrow.text();
  EXPECT_THAT(text, testing::HasSubstr("\repoch 1: 2/2 (100 "));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("accuracy")));
}

TEST(ProgressBar, shows_the_one_figure_that_is_named) {
  FakeRun run({.max_epoch = 1, .steps_per_epoch = 1});
  run.trainer.figures["accuracy"] = [](int64_t) { return 0.5; };
  run.trainer.figures["cost"] = [](int64_t) { return 1.0; };
  run.add("ProgressBar", parse_yaml("name: cost", "p.yaml"));
  TerminalStderr terminal(120);
  run.go();
  const std::string text = terminal.text();
  EXPECT_THAT(text, testing::HasSubstr("cost 1\033[K"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("accuracy")));
}

TEST(ProgressBar, shows_no_cost_if_the_trainer_has_none) {
  FakeRun run({.max_epoch = 1, .steps_per_epoch = 1});
  EXPECT_EQ(run.add("ProgressBar").go().ending, StopReason::kFinished);
}

TEST(ProgressBar, rejects_a_statistic_that_is_asked_for_and_not_there) {
  FakeRun run({.max_epoch = 1, .steps_per_epoch = 1});
  run.trainer.figures["cost"] = [](int64_t) { return 1.0; };
  run.add("ProgressBar", parse_yaml("name: cst", "p.yaml"));
  EXPECT_THROW(run.go(), ConfigError);
}

/// Which statistics are shown on a terminal.
std::string figures_on_a_terminal(const std::string& item) {
  FakeTrainer trainer;
  for (const char* name : {"accuracy", "cost"}) trainer.figures[name] = [](int64_t) { return 0.5; };
  TestRun run({.max_epoch = 1, .steps_per_epoch = 2}, trainer);
  run.add("probed", callback_of(item));
  TerminalStderr terminal(120);
  std::string text = error_of_run(run);
  const std::string shown = terminal.text();
  for (const auto& [name, figure] : trainer.figures) {
    if (shown.find(name + " 0.5") != std::string::npos) text += " " + name;
  }
  return text;
}

const live::Fields kProgressBar("callback", "ProgressBar", {.build = figures_on_a_terminal});

}  // namespace
}  // namespace tpack
