#include <gtest/gtest.h>

#include "config/yaml_reader.h"
#include "support/errors.h"
#include "support/fake_trainer.h"
#include "support/live_fields.h"
#include "support/small_training.h"

namespace tpack {
namespace {

/// A model of CartPole that pushes to the right where the sum of a formula over the four numbers is above 0.
std::string lean_model(const std::string& formula) {
  return R"(
feed: {seen: x}
inputs: {seen: {shape: [4], dtype: float32}, y: {shape: [], dtype: int32}}
layers:
  - FullyConnected: {name: fc, input: seen, units: 1}
  - Elementwise: {name: sum, input: seen, expression: ")" +
         formula + R"("}
  - ReduceSum: {name: right, axes: [1], keep_dims: true}
  - Elementwise: {name: left, expression: 0 * x}
  - Concat: {name: scores, input: [left, right]}
cost: [{MeanSquaredError: {predictions: fc, targets: 0}}]
)";
}

/// What PlayEpisodes reports after each of two epochs.
std::map<std::string, std::vector<double>> reported(const std::string& params, const std::string& formula) {
  DataFlow flow =
      make_flow(parse_yaml("[{FakeData: {shapes: [[4], []], dtype: [float32, int32], names: [x, y]}}, "
                           "{BatchData: {batch_size: 4}}]",
                           "flow.yaml"));
  SmallTraining training(std::move(flow), "Simple", "SGD: {learning_rate: 0.1}",
                         EngineSettings::Backend::kReference, make_self_comm(),
                         model_of(lean_model(formula)));
  TestRun run({.max_epoch = 2, .steps_per_epoch = 1}, training.trainer());
  run.add("PlayEpisodes", parse_yaml(params, "p.yaml")).go();
  std::map<std::string, std::vector<double>> all;
  for (const char* name :
       {"greedy_reward", "greedy_reward_min", "greedy_reward_max", "greedy_episode_length"})
    all[name] = run.values(name);
  return all;
}

const live::Fields kPlayEpisodes(
    "callback", "PlayEpisodes",
    {.base = "{environment: CartPole, values: scores, input: seen, episodes: 10}",
     .values = {{"environment", "{CartPole: {limit: 3}}"}, {"values", "sum"}, {"input", "y"}},
     .build = [](const std::string& item) {
       std::string text;
       for (const auto& [name, values] :
            reported(to_json(parse_yaml(item, "i.yaml").entries()[0].value), "x * x"))
         for (const double value : values) text += shortest(value) + " ";
       return text;
     }});

TEST(PlayEpisodes, does_the_best_action) {
  const std::string params = "{environment: CartPole, values: scores, input: seen, episodes: 40}";
  // Pushing to where the pole leans and turns keeps it up far longer than pushing away: 136 steps, not 9.
  const auto good = reported(params, "x");
  const auto bad = reported(params, "-x");
  ASSERT_EQ(good.at("greedy_reward").size(), 2);
  EXPECT_GT(good.at("greedy_reward")[0], 60);
  EXPECT_LT(bad.at("greedy_reward")[0], 12);
  EXPECT_NE(good.at("greedy_reward")[0], good.at("greedy_reward")[1]) << "other episodes";
  EXPECT_EQ(good.at("greedy_reward"), reported(params, "x").at("greedy_reward")) << "but the same again";
}

TEST(PlayEpisodes, reports_whole_episodes) {
  const auto all =
      reported("{environment: {CartPole: {limit: 9}}, values: scores, input: seen, episodes: 25}", "x");
  for (const auto& [name, values] : all) EXPECT_EQ(values[0], 9) << name;
}

TEST(PlayEpisodes, rejects_outputs_that_are_no_scores_of_the_actions) {
  EXPECT_TRUE(says(error_from([&] { reported("{environment: CartPole, values: fc, input: seen}", "x"); }),
                   {"output 'fc' is float32 [1]", "has 2 actions"}));
}

}  // namespace
}  // namespace tpack
