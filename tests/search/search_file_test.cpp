#include "search/search_file.h"

#include <cmath>
#include <limits>

#include <gmock/gmock-more-matchers.h>

#include "support/errors.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

SearchPlan some_plan() {
  return {Method::kRandom,
          {"a=[1..2]", "b=3"},
          4,
          1,
          {"cost", Goal::kMin},
          0,
          0,
          "optimizer:\n  Adam:\n    beta1: 0.9\n"};
}

TEST(SearchFile, reads_back_what_it_wrote) {
  SearchRecord record{some_plan(), {"a"}, {}};
  record.runs.push_back(
      {"000-a=1", {"1"}, RunState::kStopped, {0.5, std::numeric_limits<double>::quiet_NaN()}, 2.5, 0, ""});
  record.runs.push_back({"001-a=2", {"2"}, RunState::kRunning, {}, 0, 5, "no memory"});
  const SearchRecord again = SearchRecord::from_json(record.to_json(), "sweep.json");
  EXPECT_THAT(plan_differences(record.plan, again.plan), IsEmpty());
  ASSERT_EQ(again.runs.size(), 2U);
  EXPECT_EQ(again.runs[0].state, RunState::kStopped);
  EXPECT_EQ(again.runs[0].scores[0], 0.5);
  EXPECT_TRUE(std::isnan(again.runs[0].scores[1]));
  EXPECT_EQ(again.runs[0].seconds, 2.5);
  EXPECT_EQ(again.runs[1].state, RunState::kInterrupted) << "the process that ran it is gone";
  EXPECT_EQ(again.runs[1].reason, "no memory");
}

TEST(SearchFile, says_how_plans_differ) {
  SearchPlan other = some_plan();
  other.method = Method::kGrid;
  other.settings = {"a=[1..3]", "b=3"};
  other.seed = 2;
  other.metric = {"accuracy", Goal::kMax};
  EXPECT_THAT(
      plan_differences(some_plan(), other),
      ElementsAre("--search was random, is grid", "--set 'a=[1..2]' is missing", "--set 'a=[1..3]' is added",
                  "--seed was 1, is 2", "--metric was cost, is accuracy", "--goal was min, is max"));
  SearchPlan config = some_plan();
  config.config = "optimizer:\n  Adam:\n    beta1: 0.8\n";
  EXPECT_THAT(plan_differences(some_plan(), config), ElementsAre("optimizer.Adam.beta1 was 0.9, is 0.8"));
  config.config = "optimizer:\n  Momentum: {}\n";
  EXPECT_THAT(plan_differences(some_plan(), config), ElementsAre("the optimizer of the config differs"));
  SearchPlan order = some_plan();
  std::swap(order.settings[0], order.settings[1]);
  EXPECT_THAT(plan_differences(some_plan(), order), ElementsAre("the order of --set differs"));
}

TEST(SearchFile, a_random_search_may_get_more_trials) {
  SearchPlan more = some_plan();
  more.trials = 9;
  EXPECT_THAT(plan_differences(some_plan(), more), IsEmpty());
  EXPECT_THAT(plan_differences(more, some_plan()), ElementsAre("--trials was 9, is 4"));
  SearchPlan halving = some_plan();
  halving.method = Method::kHalving;
  SearchPlan more_halving = more;
  more_halving.method = Method::kHalving;
  EXPECT_THAT(plan_differences(halving, more_halving), ElementsAre("--trials was 4, is 9"));
}

TEST(SearchFile, damaged_ones_are_rejected) {
  std::string text = SearchRecord{some_plan(), {"a"}, {{"000", {"1"}}}}.to_json();
  const auto message = [](const std::string& json) -> std::string {
    return error_from([&] { SearchRecord::from_json(json, "x/sweep.json"); });
  };
  EXPECT_EQ(message(text), "no error");
  for (const std::string& bad : {std::string("{}"), text.substr(0, text.size() / 2),
                                 std::string(text).replace(text.find("waiting"), 7, "sleeps!")})
    EXPECT_THAT(message(bad), HasSubstr("x/sweep.json: is damaged; use another folder")) << bad;
  EXPECT_THAT(message(std::string(text).replace(text.find("\"format\": 1"), 11, "\"format\": 2")),
              HasSubstr("was written by a different version"));
}

}  // namespace
}  // namespace tpack
