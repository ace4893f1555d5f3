#include <gmock/gmock-matchers.h>

#include "callbacks/give_scalar.h"
#include "config/yaml_reader.h"
#include "support/captured_log.h"
#include "support/errors.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kHalve =
    "{param: learning_rate, monitor: cost, value: old / 2, threshold: 0.1, last_k: 3";

class StatMonitorTest : public testing::Test {
 protected:
  TestRun& start(const std::string& params, std::vector<double> costs, std::vector<int64_t> silent = {}) {
    const auto epochs = static_cast<int64_t>(costs.size());
    return start(params, epochs, std::move(costs), std::move(silent));
  }
  TestRun& start(const std::string& params, int64_t epochs, std::vector<double> costs,
                 std::vector<int64_t> silent = {}) {
    run_ = std::make_unique<FakeRun>(RunLength{.max_epoch = epochs, .steps_per_epoch = 1}, folder_.str());
    run_->trainer.set_hyper_parameter("learning_rate", 1);
    run_->trainer.on_step = [this](int64_t) {
      seen_.push_back(static_cast<float>(run_->trainer.learning_rate()));
    };
    run_->add("give", give("cost", std::move(costs), std::move(silent), goal_));
    return run_->add("StatMonitorParamSetter", parse_yaml(params, "s.yaml"));
  }
  /// The learning rate of each step.
  std::vector<float> rates(const std::string& params, std::vector<double> costs,
                           std::vector<int64_t> silent = {}) {
    seen_.clear();
    start(params, std::move(costs), std::move(silent)).go();
    return seen_;
  }

  std::optional<Goal> goal_ = Goal::kMin;  // of the statistic
  TemporaryFolder folder_;
  std::unique_ptr<FakeRun> run_;
  std::vector<float> seen_;
};

TEST_F(StatMonitorTest, changes_the_value_when_the_statistic_has_not_improved) {
  for (const auto& [costs, expected] : std::vector<std::pair<std::vector<double>, std::vector<float>>>{
           {{1, 0.95, 0.92, 0}, {1, 1, 1, 0.5F}},                         // 0.92 is not below 1 - 0.1
           {{1, 0.5, 2, 0.6, 0.6, 0}, {1, 1, 1, 1, 0.5F, 0.5F}},          // in 0.5, 2, 0.6: below 0.4
           {{1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 0.5F, 0.5F, 0.5F, 0.25F}}})  // a new window after a change
    EXPECT_EQ(rates(kHalve + std::string("}"), costs), expected);
}

TEST_F(StatMonitorTest, in_reverse_the_statistic_should_grow) {
  goal_ = std::nullopt;
  EXPECT_THAT(rates(kHalve + std::string(", reverse: true}"), {1, 1.05, 1.2, 1.2, 1.2, 0}),
              ElementsAre(1, 1, 1, 1, 1, 0.5F));
  goal_ = Goal::kMax;
  EXPECT_THAT(rates(kHalve + std::string("}"), {1, 1.05, 1.2, 1.2, 1.2, 0}),
              ElementsAre(1, 1, 1, 1, 1, 0.5F));
}

TEST_F(StatMonitorTest, needs_a_direction_that_fits_the_statistic) {
  const auto refused = [&](const std::string& more) {
    return error_from([&] { rates(kHalve + more + "}", {1, 1}); });
  };
  EXPECT_TRUE(says(refused(", reverse: true"), {"lower values of 'cost'", "remove 'reverse'"}));
  goal_ = Goal::kMax;
  EXPECT_THAT(refused(", reverse: false"), HasSubstr("higher values of 'cost' are better; remove 'reverse'"));
  goal_ = std::nullopt;
  EXPECT_TRUE(says(refused(""), {"'cost' are better", "write reverse: false (lower)"}));
}

TEST_F(StatMonitorTest, an_epoch_without_a_new_value_does_not_count) {
  const CapturedLog log;
  EXPECT_THAT(rates(kHalve + std::string("}"), {1, 0, 1, 1, 0}, {2}), ElementsAre(1, 1, 1, 1, 0.5F));
  EXPECT_TRUE(says(log.text(), {"warning:", "trigger this callback less"}));
}

TEST_F(StatMonitorTest, can_end_the_run) {
  start(kHalve + std::string(", stop_below: 0.6}"), {1, 1, 1, 1, 1});
  const LoopResult result = run_->go();
  EXPECT_EQ(result.ending, StopReason::kStopped);
  EXPECT_EQ(result.global_step, 3);
  EXPECT_EQ(result.reason, "cost has not improved, and learning_rate would be 0.5, below 0.6");
}

TEST_F(StatMonitorTest, a_run_that_it_has_ended_ends_again_unless_less_is_allowed) {
  const std::vector<double> costs = {1, 1, 1, 1, 1, 1};
  start(kHalve + std::string(", stop_below: 0.6}"), costs).add("ModelSaver").go();
  start(kHalve + std::string(", stop_below: 0.6}"), costs);
  const LoopResult again = run_->go_on_from(folder_ / "checkpoints/model-3.h5");
  EXPECT_EQ(again.ending, StopReason::kStopped);
  EXPECT_EQ(again.global_step, 3);
  EXPECT_EQ(again.reason, "cost has not improved, and learning_rate would be 0.5, below 0.6");
  start(kHalve + std::string(", stop_below: 0.4}"), costs);
  EXPECT_EQ(run_->go_on_from(folder_ / "checkpoints/model-3.h5").global_step, 6);
}

TEST_F(StatMonitorTest, knows_its_window_after_a_resume) {
  const std::vector<double> costs = {1, 1, 1, 1, 1, 1, 1, 1};
  const std::vector<float> all = rates(kHalve + std::string("}"), costs);
  const std::string statistics = bits_of_statistics(run_->monitors);
  seen_.clear();
  start(kHalve + std::string("}"), 5, costs).add("ModelSaver").go();
  start(kHalve + std::string("}"), 8, costs).go_on_from(folder_ / "checkpoints/model-5.h5");
  EXPECT_EQ(seen_, all);
  EXPECT_EQ(bits_of_statistics(run_->monitors), statistics);
}

TEST_F(StatMonitorTest, must_come_after_what_gives_the_value) {
  FakeRun run({.max_epoch = 1, .steps_per_epoch = 1});
  run.add("StatMonitorParamSetter", parse_yaml(kHalve + std::string("}"), "s.yaml"));
  run.add("give", give("cost", {1}));
  EXPECT_TRUE(says(error_from([&] { run.go(); }),
                   {"s.yaml:1:33:", "'cost' is reported by a", "move that callback before this"}));
}

std::string rates_with(const std::string& item) {
  FakeTrainer trainer;
  trainer.set_hyper_parameter("learning_rate", 1);
  std::string text;
  trainer.on_step = [&](int64_t) { text += shortest(trainer.learning_rate()) + " "; };
  TestRun run({.max_epoch = 8, .steps_per_epoch = 1}, trainer);
  run.add("give", give("cost", {1, 0.95, 1.25, 1.1, 1.3, 1.25, 1.4, 1.4}));
  run.add("probed", Registry<Callback>::make_item(parse_yaml(item, "i.yaml")));
  return text + run.go().reason;
}
const live::Fields kStatMonitorParamSetter(
    "callback", "StatMonitorParamSetter",
    {.base =
         "{param: learning_rate, monitor: cost, value: old / 2, threshold: 0.2, last_k: 3, reverse: false, "
         "stop_below: 0.2}",
     .values = {{"param", "momentum"},
                {"monitor", "nothing"},
                {"value", "old / 4"},
                {"threshold", "0.01"},
                {"last_k", "2"},
                {"reverse", "true"},
                {"stop_below", "0.3"}},
     .build = rates_with});

}  // namespace
}  // namespace tpack
