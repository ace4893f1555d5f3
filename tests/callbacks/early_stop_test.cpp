#include <cmath>

#include <gtest/gtest.h>

#include "callbacks/give_scalar.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/layout.h"
#include "config/yaml_reader.h"
#include "support/errors.h"
#include "support/live_fields.h"
#include "support/small_training.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

class EarlyStopTest : public testing::Test {
 protected:
  TestRun& start(const std::string& more, int64_t epochs, std::vector<double> values,
                 std::vector<int64_t> silent = {}) {
    run_ = std::make_unique<FakeRun>(RunLength{.max_epoch = epochs, .steps_per_epoch = 1}, folder_.str());
    run_->add("give", give("cost", std::move(values), std::move(silent), goal_));
    return run_->add("EarlyStop", parse_yaml("{monitor: cost, " + more + "}", "s.yaml")).add("ModelSaver");
  }
  /// The epoch in which it ends the run; 0 if it does not.
  int64_t end_of(const std::string& more, const std::vector<double>& values,
                 std::vector<int64_t> silent = {}) {
    start(more, static_cast<int64_t>(values.size()), values, std::move(silent));
    const LoopResult result = run_->go();
    reason_ = result.reason;
    return result.ending == StopReason::kStopped ? result.epoch : 0;
  }

  std::optional<Goal> goal_ = Goal::kMin;  // of the statistic
  TemporaryFolder folder_;
  std::unique_ptr<FakeRun> run_;
  std::string reason_;
};

TEST_F(EarlyStopTest, ends_a_run_that_does_not_improve) {
  EXPECT_EQ(end_of("patience: 3", {5, 4, 4, 4.5, 4, 1}), 5);
  EXPECT_EQ(reason_, "cost has not improved in 3 values; the best is 4 after global_step 2");
  EXPECT_EQ(end_of("patience: 3", {5, 4, 4, 4, 3, 3}), 0);
}

TEST_F(EarlyStopTest, can_wait_for_larger_values_and_for_larger_steps) {
  goal_ = std::nullopt;
  EXPECT_EQ(end_of("patience: 2, mode: max", {1, 2, 1.5, 1.5, 3}), 4);
  EXPECT_EQ(end_of("patience: 2, mode: min", {1, 0.5, 1.5, 1.5, 3}), 4);
  goal_ = Goal::kMin;
  EXPECT_EQ(end_of("patience: 2, min_delta: 0.5", {5, 4.75, 4.5, 4, 4}), 3);
  EXPECT_EQ(reason_, "cost has not improved by more than 0.5 in 2 values; the best is 5 after global_step 1");
}

TEST_F(EarlyStopTest, waits_for_what_is_better_of_the_statistic) {
  const std::vector<double> rises = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(end_of("patience: 2", rises), 3);
  goal_ = Goal::kMax;
  EXPECT_EQ(end_of("patience: 2", rises), 0);
  EXPECT_EQ(end_of("patience: 2, mode: max", rises), 0);
}

TEST_F(EarlyStopTest, rejects_a_mode_that_contradicts_the_statistic_and_asks_where_nothing_tells) {
  const auto rejected = [&](const std::string& more) { return error_from([&] { end_of(more, {1, 1}); }); };
  EXPECT_TRUE(says(rejected("mode: max"), {"s.yaml:1:11:", "lower values of 'cost'", "remove 'mode: max'"}));
  goal_ = Goal::kMax;
  EXPECT_TRUE(says(rejected("mode: min"), {"s.yaml:1:11:", "higher values of 'cost'", "remove 'mode: min'"}));
  goal_ = std::nullopt;
  EXPECT_TRUE(says(rejected("patience: 2"),
                   {"s.yaml:1:11:", "of 'cost' are better", "write mode: min or mode: max"}));
}

TEST_F(EarlyStopTest, an_epoch_with_nan_is_no_improvement_and_one_without_a_value_does_not_count) {
  EXPECT_EQ(end_of("patience: 2", {NAN, NAN, 1, 1}), 2);
  EXPECT_EQ(reason_, "cost has not improved in 2 values; every value is nan");
  EXPECT_EQ(end_of("patience: 2", {5, 5, 5, 5, 5, 5}, {2, 3}), 5);
}

TEST_F(EarlyStopTest, knows_its_patience_after_a_resume) {
  const std::vector<double> values = {5, 4, 4.5, 4.5, 4.5, 1};
  start("patience: 3", 3, values).go();
  start("patience: 3", 6, values);
  const LoopResult result = run_->go_on_from(folder_ / "checkpoints/model-3.h5");
  EXPECT_EQ(result.ending, StopReason::kStopped);
  EXPECT_EQ(result.epoch, 5);
  EXPECT_EQ(result.reason, "cost has not improved in 3 values; the best is 4 after global_step 2");
}

TEST_F(EarlyStopTest, a_run_that_it_ended_goes_on_only_with_more_patience) {
  const std::vector<double> values = {5, 5, 5, 5, 5, 5};
  EXPECT_EQ(end_of("patience: 2", values), 3);
  start("patience: 2", 6, values);
  EXPECT_EQ(run_->go_on_from(folder_ / "checkpoints/model-3.h5").global_step, 3);
  start("patience: 4", 6, values);
  EXPECT_EQ(run_->go_on_from(folder_ / "checkpoints/model-3.h5").global_step, 5);
}

/// The weights of a small model after each epoch, of a run whose cost is as given.
using Weights = std::vector<float>;

class RestoredWeights : public testing::Test {
 protected:
  TestRun& start(int64_t epochs, const std::string& more = "patience: 2, restore_best: true") {
    training_ = std::make_unique<SmallTraining>();
    run_ = std::make_unique<TestRun>(RunLength{.max_epoch = epochs, .steps_per_epoch = 2},
                                     training_->trainer(), folder_.str());
    run_->add("give", give("cost", {5, 4, 6, 7, 1, 1}));
    run_->on_trigger("watch", [this](tpack::Run& run) {
      after_epochs_.push_back(weights_of(run.variables(VariableScope::kModel).at("fc0/W")));
    });
    run_->add("EarlyStop", parse_yaml("{monitor: cost, mode: min, " + more + "}", "s.yaml"));
    return run_->add("ModelSaver");
  }
  static Weights weights_of(const Tensor& tensor) {
    const auto values = tensor.span<float>();
    return {values.begin(), values.end()};
  }
  Weights saved(int64_t step) const {
    const std::string file = folder_ / ("checkpoints/model-" + std::to_string(step) + ".h5");
    return weights_of(load_checkpoint(file).tensors.at(layout::kModel + std::string("fc0/W")));
  }

  TemporaryFolder folder_;
  std::unique_ptr<SmallTraining> training_;
  std::unique_ptr<TestRun> run_;
  std::vector<Weights> after_epochs_;
};

TEST_F(RestoredWeights, are_those_of_the_best_value_where_the_run_is_stopped) {
  EXPECT_EQ(start(6).go().epoch, 4);
  ASSERT_EQ(after_epochs_.size(), 4U);
  EXPECT_EQ(saved(8), after_epochs_[1]);
  EXPECT_NE(saved(8), after_epochs_[3]);
  EXPECT_EQ(saved(6), after_epochs_[2]) << "a checkpoint before the end has the weights of then";
}

TEST_F(RestoredWeights, are_those_of_the_best_value_at_the_last_epoch) {
  EXPECT_EQ(start(3).go().epoch, 3);
  EXPECT_EQ(saved(6), after_epochs_[1]);
}

TEST_F(RestoredWeights, are_kept_where_nobody_asks_for_the_best) {
  start(3, "patience: 2").go();
  EXPECT_EQ(saved(6), after_epochs_[2]);
}

TEST_F(RestoredWeights, are_known_after_a_resume) {
  start(3, "patience: 5, restore_best: true").go();
  const Weights best = after_epochs_[1];
  EXPECT_EQ(start(4).go_on_from(folder_ / "checkpoints/model-4.h5").restored_step, 4);
  EXPECT_EQ(saved(8), best);
  EXPECT_EQ(start(4).go_on_from(folder_ / "checkpoints/model-8.h5").restored_step, 4)
      << "nothing is left to do";
}

/// The end of a run whose cost improves by little, and then not at all.
std::string end_with(const std::string& item) {
  FakeRun run({.max_epoch = 8, .steps_per_epoch = 1});
  run.add("give", give("cost", {5, 4.9, 6, 6.5, 6.4, 3, 3, 3}));
  run.add("probed", Registry<Callback>::make_item(parse_yaml(item, "i.yaml")));
  return run.go().reason;
}
const live::Fields kEarlyStop("callback", "EarlyStop",
                              {.base = "{monitor: cost, patience: 3, mode: min}",
                               .values = {{"monitor", "nothing"}, {"patience", "5"}, {"min_delta", "0.2"}},
                               .left_out = {{"restore_best", "RestoredWeights"}},
                               .build = end_with});

}  // namespace
}  // namespace tpack
