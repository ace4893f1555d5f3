#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "agents/scripted_predictor.h"
#include "dataflow/flow_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

constexpr const char* kRollouts =
    "Rollouts: {environment: Catch, policy: p, values: v, environments: 3, steps: 8, epochs: 2";

/// Scores of the actions by the board, and the number of the ball's row as the value.
ScriptedPredictor player_with_values() {
  return ScriptedPredictor([](const Tensor& boards) {
    const Tensor values(DType::kFloat32, {boards.shape()[0], 1});
    for (int64_t i = 0; i < boards.shape()[0]; ++i) {
      const auto cells = boards.row(i).span<float>();
      const auto row = (std::find(cells.begin(), cells.end(), 1.0F) - cells.begin()) / boards.shape()[2];
      values.span<float>()[static_cast<size_t>(i)] = static_cast<float>(row);
    }
    return std::vector{follow_the_ball(boards), values};
  });
}

std::string rollouts_of(const std::string& item) {
  PlayedFlow played(item);
  ScriptedPredictor predictor = player_with_values();
  played.agent.begin(predictor);
  std::string text = played.flow.spec().str();
  for (const double value : numbers_of(played, 60)) text += " " + shortest(value);
  return text + " calls " + std::to_string(predictor.calls);
}

const live::Fields kRolloutFields(
    "source", "Rollouts",
    {.base = "{environment: Catch, policy: p, values: v, environments: 2, steps: 4, epochs: 2}",
     .values = {{"environment", "{Catch: {rows: 6}}"}},
     .left_out = {{"policy", "AgentModel has it: asks_for_scores_and_values"},
                  {"values", "AgentModel has it: asks_for_scores_and_values"}},
     .build = rollouts_of});

TEST(Rollouts, asks_for_scores_and_values) {
  const DataFlow flow =
      make_flow(parse_yaml("[" + std::string(kRollouts) + "}, BatchData: {batch_size: 4}]", "flow.yaml"));
  const AgentModel model = agent_source_of(*flow.flow())->model();
  ASSERT_EQ(model.outputs.size(), 2);
  EXPECT_EQ(model.outputs[0].output.name, "p");
  EXPECT_EQ(model.outputs[0].size, 3);
  EXPECT_EQ(model.outputs[1].output.name, "v");
  EXPECT_EQ(model.outputs[1].size, 1);
  EXPECT_EQ(model.batch, 3);
  EXPECT_FALSE(model.is_asynchronous);
}

TEST(Rollouts, give_each_step_once_in_each_epoch) {
  PlayedFlow played(kRollouts + std::string("}"));
  ScriptedPredictor predictor = player_with_values();
  played.agent.begin(predictor);
  constexpr int64_t kSize = 24;
  const auto samples = [&] {  // of an epoch, sorted
    const auto cursor = played.flow.open({.position = played.agent.given() / 4});
    std::vector<std::vector<double>> all;
    Datapoint batch;
    for (int64_t n = 0; n < kSize / 4; ++n) {
      cursor->next(batch);
      for (int64_t i = 0; i < 4; ++i)
        all.push_back(
            {batch.tensor(1).at(i), batch.tensor(2).at(i), batch.tensor(3).at(i), batch.tensor(4).at(i)});
    }
    return all;
  };
  auto first = samples();
  const int calls = predictor.calls;
  EXPECT_EQ(calls, 9) << "before each of the 8 steps, and after the last one";
  auto second = samples();
  EXPECT_NE(first, second) << "another order";
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  EXPECT_EQ(first, second);
  EXPECT_EQ(predictor.calls, calls);
  samples();
  EXPECT_EQ(predictor.calls, 2 * calls);
}

/// With normalize: false, discount 1 and decay 1 the return is the reward of the episode where it ends in the
/// rollout, else the value of the last state.
TEST(Rollouts, judge_by_what_came_of_it) {
  PlayedFlow played(
      "Rollouts: {environment: Catch, policy: p, values: v, environments: 2, steps: 12, epochs: 1, discount: "
      "1, "
      "decay: 1, normalize: false}");
  ScriptedPredictor predictor = player_with_values();
  played.agent.begin(predictor);
  const auto cursor = played.flow.open({});
  std::map<double, int> returns;
  Datapoint batch;
  for (int n = 0; n < 6; ++n) {
    cursor->next(batch);
    for (int64_t i = 0; i < 4; ++i) {
      const double target = batch.tensor(3).at(i);
      ++returns[target];
      const auto cells = batch.tensor(0).row(i).span<float>();
      const auto row = (std::find(cells.begin(), cells.end(), 1.0F) - cells.begin()) / 5;
      EXPECT_EQ(batch.tensor(2).at(i), target - static_cast<double>(row)) << "return - value";
    }
  }
  // Each environment: 9 steps of an episode that ends with 1 or -1, and 3 up to a state whose ball is in
  // row 3.
  EXPECT_EQ(returns[3], 6);
  EXPECT_EQ(returns[1] + returns[-1], 18);
}

TEST(Rollouts, look_at_the_last_state_of_an_episode_that_is_cut_off) {
  PlayedFlow played(
      "Rollouts: {environment: {CartPole: {limit: 1}}, policy: p, values: v, environments: 1, steps: 4, "
      "epochs: "
      "1, discount: 1, decay: 1, normalize: false}");
  ScriptedPredictor predictor([](const Tensor& states) {  // the value: whether the cart moves as after a push
    const bool was_pushed = std::abs(states.at(1)) > 0.1;
    return std::vector{Tensor::zeros({DType::kFloat32, {1, 2}}),
                       Tensor::of<float>({1, 1}, {was_pushed ? 100.0F : 0.0F})};
  });
  played.agent.begin(predictor);
  const auto cursor = played.flow.open({});
  Datapoint batch;
  cursor->next(batch);
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(batch.tensor(3).at(i), 101) << "reward 1, then the value";
}

TEST(Rollouts, have_normal_advantages) {
  PlayedFlow played(kRollouts + std::string("}"));
  ScriptedPredictor predictor = player_with_values();
  played.agent.begin(predictor);
  const auto cursor = played.flow.open({});
  std::vector<double> all;
  Datapoint batch;
  for (int n = 0; n < 6; ++n) {
    cursor->next(batch);
    for (int64_t i = 0; i < 4; ++i) all.push_back(batch.tensor(2).at(i));
  }
  EXPECT_NEAR(std::accumulate(all.begin(), all.end(), 0.0), 0, 1e-5);
  EXPECT_NEAR(std::inner_product(all.begin(), all.end(), all.begin(), 0.0), 24, 1e-4);
}

TEST(Rollouts, go_on_from_what_was_saved) {
  const std::string item = kRollouts + std::string("}");
  for (const int64_t batches : {3, 6, 13}) {  // in the middle and at the ends of epochs and rollouts
    ScriptedPredictor predictor = player_with_values();
    PlayedFlow whole(item);
    whole.agent.begin(predictor);
    numbers_of(whole, batches);
    PlayedFlow resumed(item);
    resumed.agent.load(whole.agent.save());
    resumed.agent.begin(predictor);
    EXPECT_EQ(numbers_of(resumed, 20), numbers_of(whole, 20));
  }
  PlayedFlow whole(item);
  PlayedFlow other("Rollouts: {environment: Catch, policy: p, values: v, environments: 3, steps: 9}");
  EXPECT_THROW(other.agent.load(whole.agent.save()), CheckpointError);
}

}  // namespace
}  // namespace tpack
