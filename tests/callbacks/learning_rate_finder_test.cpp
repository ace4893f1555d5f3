#include <cmath>

#include <gmock/gmock-matchers.h>

#include "callbacks/give_scalar.h"
#include "config/yaml_reader.h"
#include "support/captured_log.h"
#include "support/errors.h"
#include "support/live_fields.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::HasSubstr;

class FinderTest : public testing::Test {
 protected:
  TestRun& start(const std::string& params, std::function<double(int64_t)> cost, int64_t epochs = 4) {
    run_ = std::make_unique<FakeRun>(RunLength{.max_epoch = epochs, .steps_per_epoch = 3}, folder_.str());
    run_->trainer.figures["cost"] = std::move(cost);
    run_->trainer.on_step = [this](int64_t) { seen_.push_back(run_->trainer.learning_rate()); };
    return run_->add("LearningRateFinder", parse_yaml(params, "f.yaml"));
  }

  TemporaryFolder folder_;
  std::unique_ptr<FakeRun> run_;
  std::vector<double> seen_;
};

TEST_F(FinderTest, raises_the_rate_by_the_same_factor_and_stops) {
  const LoopResult result = start("{from: 1.0e-4, to: 1, steps: 5}", [](int64_t) { return 1.0; }).go();
  EXPECT_EQ(result.ending, StopReason::kStopped);
  EXPECT_EQ(result.global_step, 5);
  ASSERT_EQ(seen_.size(), 5U);
  for (int i = 0; i < 5; ++i)
    EXPECT_FLOAT_EQ(static_cast<float>(seen_[static_cast<size_t>(i)]),
                    std::pow(10.0F, static_cast<float>(i - 4)));
  EXPECT_EQ(run_->values("finder_rate").size(), 5U);
}

/// Costs without smoothing: the largest fall is after the third step, with rate 0.01.
TEST_F(FinderTest, says_where_the_cost_falls_fastest) {
  const CapturedLog log;
  const std::vector<double> costs = {5, 4.9, 4.5, 2, 1.9};
  start("{from: 1.0e-4, to: 1, steps: 5, decay: 0}", [&](int64_t step) {
    return costs.at(static_cast<size_t>(step) - 1);
  }).go();
  EXPECT_EQ(run_->values("finder_cost"), costs);
  EXPECT_TRUE(says(log.text(), {"the cost fell fastest at learning_rate 0.01; "}));
}

/// The largest fall of a single step is noise near the beginning.
TEST_F(FinderTest, is_not_misled_by_the_noise_of_single_batches) {
  const CapturedLog log;
  start(
      "{from: 1.0e-4, to: 1, steps: 101, decay: 0}",
      [](int64_t step) {
        const double noise = step % 2 == 0 ? 0.3 : -0.3;
        const double fall = step > 50 ? 0.2 * static_cast<double>(std::min<int64_t>(step, 70) - 50) : 0;
        return 10 + noise - fall;
      },
      40)
      .go();
  const std::string text = log.text();
  const std::string before = "the cost fell fastest at learning_rate ";
  const double rate = std::stod(text.substr(text.find(before) + before.size()));
  EXPECT_GT(rate, 0.01);
  EXPECT_LT(rate, 0.07);
}

TEST_F(FinderTest, stops_when_the_cost_diverges) {
  const std::string params = "{from: 1.0e-4, to: 1, steps: 9, decay: 0";
  const LoopResult result =
      start(params + ", diverged_at: 3}", [](int64_t step) { return step < 4 ? 1.0 : 3.5; }).go();
  EXPECT_EQ(result.global_step, 4);
  EXPECT_THAT(result.reason, HasSubstr("the cost diverges at learning_rate 0.00316227"));
  for (const double before : {1.0, -1.0})
    EXPECT_EQ(start(params + "}", [=](int64_t step) { return step < 4 ? before : NAN; }).go().global_step, 4);
}

/// A cost that is computed in every second step: rates change only in these.
TEST_F(FinderTest, tries_no_rate_in_steps_without_the_cost) {
  start("{from: 1.0e-3, to: 1, steps: 4, decay: 0}",
        [](int64_t step) { return static_cast<double>(10 - step); });
  run_->trainer.is_due = [](int64_t steps) { return steps % 2 == 0; };
  const LoopResult result = run_->go();
  EXPECT_EQ(result.global_step, 8);
  EXPECT_EQ(run_->values("finder_cost"), (std::vector<double>{8, 6, 4, 2}));
  EXPECT_EQ(run_->values("finder_rate").size(), 4U);
  for (size_t i = 0; i < 8; i += 2) EXPECT_EQ(seen_.at(i), seen_.at(i + 1));
}

TEST_F(FinderTest, goes_on_after_a_resume) {
  const auto cost = [](int64_t step) { return 5.0 / static_cast<double>(step); };
  const std::string params = "{from: 1.0e-4, to: 1, steps: 8}";
  start(params, cost).go();
  const std::vector<double> all = seen_;
  const std::string statistics = bits_of_statistics(run_->monitors);
  start(params, cost);
  seen_.clear();
  run_->trainer.data_ends_after = 3;
  run_->add("ModelSaver").go();
  start(params, cost).go_on_from(folder_ / "checkpoints/model-3.h5");
  seen_.erase(seen_.begin() + 3);  // the step that had no data
  EXPECT_EQ(seen_, all);
  EXPECT_EQ(bits_of_statistics(run_->monitors), statistics);
}

TEST_F(FinderTest, a_run_that_it_has_ended_ends_again_unless_there_are_more_rates) {
  const auto cost = [](int64_t step) { return step < 4 ? 1.0 : 3.5; };
  const std::string diverging = "{from: 1.0e-4, to: 1, steps: 9, decay: 0, diverged_at: ";
  for (const auto& [params, step] :
       {std::pair<std::string, int64_t>{"{from: 1.0e-4, to: 1, steps: 5}", 5}, {diverging + "3}", 4}}) {
    start(params, cost).add("ModelSaver");
    const LoopResult first = run_->go();
    const std::string file = folder_ / "checkpoints/model-" + std::to_string(step) + ".h5";
    start(params, cost);
    const LoopResult again = run_->go_on_from(file);
    EXPECT_EQ(again.ending, StopReason::kStopped) << params;
    EXPECT_EQ(again.global_step, step) << params;
    EXPECT_EQ(again.reason, first.reason);
  }
  start(diverging + "4}", cost);
  EXPECT_EQ(run_->go_on_from(folder_ / "checkpoints/model-4.h5").global_step, 9);
}

TEST_F(FinderTest, rejects_what_cannot_be_tried) {
  EXPECT_THROW(start("{from: 1, to: 0.1}", [](int64_t) { return 1.0; }), ConfigError);
  EXPECT_TRUE(says(error_from([&] { start("{steps: 13}", [](int64_t) { return 1.0; }).go(); }),
                   {"the run is shorter than 13 steps", "raise max_epoch, or lower"}));
}

std::string found_with(const std::string& item) {
  FakeRun run({.max_epoch = 1, .steps_per_epoch = 20});
  run.trainer.figures["cost"] = [](int64_t step) { return step < 6 ? 1.0 / static_cast<double>(step) : 1.0; };
  run.trainer.figures["other"] = [](int64_t step) { return 7.0 / static_cast<double>(step); };
  run.add("x", Registry<Callback>::make_item(parse_yaml(item, "f.yaml")));
  const LoopResult result = run.go();
  return result.reason + bits_of_statistics(run.monitors);
}
const live::Fields kLearningRateFinder("callback", "LearningRateFinder",
                                       {.base = "{steps: 9, decay: 0.5, diverged_at: 2}",
                                        .values = {{"param", "momentum"},
                                                   {"monitor", "other"},
                                                   {"from", "0.001"},
                                                   {"to", "10"},
                                                   {"steps", "8"},
                                                   {"decay", "0.1"},
                                                   {"diverged_at", "100"}},
                                        .build = found_with});

}  // namespace
}  // namespace tpack
