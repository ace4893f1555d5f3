#include "search/metric.h"

#include <gtest/gtest.h>

#include "support/errors.h"
#include "support/program_runner.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

KnownStatistics usual() {
  return {{{"accuracy", Goal::kMax},
           {"cost", Goal::kMin},
           {"learning_rate", std::nullopt},
           {"validation_accuracy", Goal::kMax},
           {"validation_cost", Goal::kMin}},
          {},
          {"cost"},
          {"train", "validation"}};
}

std::string error_of(const MetricRequest& request, const KnownStatistics& known) {
  return error_from([&] { choose_metric(request, known); });
}

TEST(ChooseMetric, takes_the_validation_of_what_is_minimized) {
  EXPECT_EQ(choose_metric({}, usual()), (SearchMetric{"validation_cost", Goal::kMin}));
  KnownStatistics no_validation = usual();
  no_validation.statistics = {{"accuracy", Goal::kMax}, {"cost", Goal::kMin}};
  EXPECT_EQ(choose_metric({}, no_validation), (SearchMetric{"cost", Goal::kMin}));
}

TEST(ChooseMetric, prefers_what_a_callback_saves_the_best_of) {
  KnownStatistics known = usual();
  known.saved = {{"validation_accuracy", Goal::kMax}, {"validation_cost", Goal::kMin}};
  EXPECT_EQ(choose_metric({}, known), (SearchMetric{"validation_accuracy", Goal::kMax}));
}

TEST(ChooseMetric, takes_what_is_asked_for) {
  EXPECT_EQ(choose_metric({"accuracy", Goal::kMax}, usual()), (SearchMetric{"accuracy", Goal::kMax}));
  EXPECT_EQ(choose_metric({"cost", std::nullopt}, usual()), (SearchMetric{"cost", Goal::kMin}));
  EXPECT_EQ(choose_metric({"accuracy", std::nullopt}, usual()), (SearchMetric{"accuracy", Goal::kMax}));
  EXPECT_EQ(choose_metric({"learning_rate", Goal::kMax}, usual()),
            (SearchMetric{"learning_rate", Goal::kMax}));
}

TEST(ChooseMetric, takes_the_goal_of_a_saver_where_the_statistic_has_none) {
  KnownStatistics known = usual();
  known.saved = {{"learning_rate", Goal::kMin}};
  EXPECT_EQ(choose_metric({}, known), (SearchMetric{"learning_rate", Goal::kMin}));
}

TEST(ChooseMetric, rejects_a_goal_that_contradicts_the_statistic_and_asks_where_the_config_does_not_tell) {
  EXPECT_TRUE(
      says(error_of({"cost", Goal::kMax}, usual()), {"--goal max: lower values of 'cost'", "remove --goal"}));
  EXPECT_TRUE(
      says(error_of({"learning_rate", std::nullopt}, usual()), {"--metric learning_rate", "add --goal"}));
  EXPECT_TRUE(
      says(error_of({"validation_acuracy", std::nullopt}, usual()), {"--metric: unknown", "did you mean"}));
  KnownStatistics two = usual();
  two.minimized = {"d", "g"};
  two.statistics = {{"d", Goal::kMin}, {"g", Goal::kMin}, {"steps_per_s", std::nullopt}};
  EXPECT_TRUE(says(error_of({}, two), {"--metric is missing", "use one of d, g, steps_per_s"}));
}

/// The tiny config with a validation and one more callback.
class SavedMetric : public testing_cli::WithTinyConfig {
 protected:
  KnownStatistics known_with(const std::string& callback) const {
    CheckedExperiment checked(config(), {"callbacks=[InferenceRunner: {data: validation}, " + callback + "]"},
                              true);
    return known_statistics(checked);
  }
};

TEST_F(SavedMetric, is_found_inside_of_other_callbacks) {
  const SearchMetric accuracy{"validation_accuracy", Goal::kMax};
  const std::string saver = "{MaxSaver: {monitor: validation_accuracy}}";
  EXPECT_EQ(choose_metric({}, known_with("ModelSaver")), (SearchMetric{"validation_cost", Goal::kMin}));
  for (const std::string& callback : {saver, "PeriodicTrigger: {callback: " + saver + ", every_k_epochs: 2}",
                                      "EnableIf: {callback: " + saver + ", condition: epoch > 1}",
                                      "EnableIf: {callback: {PeriodicTrigger: {callback: " + saver +
                                          ", every_k_epochs: 2}}, condition: epoch > 1}",
                                      "SWA: {start_epoch: 1, callbacks: [{PeriodicTrigger: {callback: " +
                                          saver + ", every_k_epochs: 1}}]}"})
    EXPECT_EQ(choose_metric({}, known_with(callback)), accuracy) << callback;
}

TEST_F(SavedMetric, has_the_goal_of_the_first_saver) {
  const KnownStatistics known = known_with(
      "PeriodicTrigger: {callback: {MinSaver: {monitor: cost}}, every_k_epochs: 1}, MaxSaver: "
      "{monitor: validation_accuracy}");
  EXPECT_EQ(known.saved,
            (std::vector<SearchMetric>{{"cost", Goal::kMin}, {"validation_accuracy", Goal::kMax}}));
  EXPECT_EQ(choose_metric({}, known), (SearchMetric{"cost", Goal::kMin}));
}

TEST(ReadMetric, finds_the_best_and_the_last_value) {
  const TemporaryFolder folder;
  write_content(
      folder / "stats.json",
      R"([{"cost": 2.0, "epoch_num": 1, "global_step": 1}, {"cost": 1.0, "epoch_num": 2, "global_step": 2},
                    {"cost": null, "epoch_num": 2, "global_step": 3}, {"cost": 3.0, "epoch_num": 3, "global_step": 4}])");
  const MetricValues least = read_metric(folder.str(), {"cost", Goal::kMin});
  EXPECT_EQ(least.best, 1.0);
  EXPECT_EQ(least.last, 3.0);
  EXPECT_EQ(least.epochs, 3);
  EXPECT_EQ(read_metric(folder.str(), {"cost", Goal::kMax}).best, 3.0);
  EXPECT_EQ(read_metric(folder.str(), {"x", Goal::kMax}).best, std::nullopt);
  EXPECT_EQ(read_metric(folder / "none", {"cost", Goal::kMin}).epochs, 0);
}

}  // namespace
}  // namespace tpack
