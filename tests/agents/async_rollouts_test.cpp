#include <atomic>
#include <cmath>

#include "agents/scripted_predictor.h"
#include "dataflow/flow_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

/// Catch with a policy that always does the best, and a value of 7.
ScriptedPredictor sure_player() {
  return ScriptedPredictor([](const Tensor& boards) {
    const Tensor scores = follow_the_ball(boards);
    for (float& score : scores.span<float>()) score *= 1000;
    const Tensor values(DType::kFloat32, {boards.shape()[0], 1});
    std::ranges::fill(values.span<float>(), 7.0F);
    return std::vector{scores, values};
  });
}

/// What one actor gives: then nothing depends on the timing of threads.
std::string async_rollouts_of(const std::string& item) {
  ScriptedPredictor predictor = sure_player();
  PlayedFlow played(item);
  const AgentModel model = agent_source_of(*played.flow.flow())->model();
  played.agent.begin(predictor);
  std::string text = played.flow.spec().str() + std::to_string(model.batch) + model.outputs[0].output.name +
                     model.outputs[1].output.name;
  for (const double value : numbers_of(played, 20)) text += " " + shortest(value);
  agent_source_of(*played.flow.flow())->stop();
  return text;
}

const live::Fields kAsyncRollouts(
    "source", "AsyncRollouts",
    {.base = "{environment: Catch, policy: p, values: v, actors: 1, steps: 2}",
     .values = {{"environment", "{Catch: {rows: 6}}"}, {"policy", "q"}, {"values", "q"}},
     .left_out = {{"queue", "how far actors are ahead: waits_for_room"}},
     .build = async_rollouts_of});

TEST(AsyncRollouts, give_what_actors_do) {
  ScriptedPredictor predictor = sure_player();
  PlayedFlow played(
      "AsyncRollouts: {environment: Catch, policy: p, values: v, actors: 4, steps: 3, discount: 1}");
  played.agent.begin(predictor);
  const auto cursor = played.flow.open({});
  Datapoint batch;
  for (int n = 0; n < 200; ++n) {
    ASSERT_TRUE(cursor->next(batch));
    for (int64_t i = 0; i < 4; ++i) {
      const double target = batch.tensor(2).at(i);  // the end of the episode, or the value after three steps
      EXPECT_TRUE(target == 1 || target == 7) << target;
      EXPECT_EQ(batch.tensor(3).at(i), 0) << "the log of 1";
      EXPECT_EQ(follow_the_ball(batch.tensor(0)).row(i).at(static_cast<int64_t>(batch.tensor(1).at(i))), 1);
    }
  }
  EXPECT_GT(played.agent.episodes().episodes(), 20);
  EXPECT_EQ(played.agent.episodes().mean_reward(), 1);
  EXPECT_EQ(played.agent.episodes().mean_length(), 9);
  agent_source_of(*played.flow.flow())->stop();
}

TEST(AsyncRollouts, look_at_the_last_state_of_an_episode_that_is_cut_off) {
  ScriptedPredictor predictor([](const Tensor& states) {  // the value: whether the cart moves as after a push
    const bool was_pushed = std::abs(states.at(1)) > 0.1;
    return std::vector{Tensor::zeros({DType::kFloat32, {1, 2}}),
                       Tensor::of<float>({1, 1}, {was_pushed ? 100.0F : 0.0F})};
  });
  PlayedFlow played(
      "AsyncRollouts: {environment: {CartPole: {limit: 1}}, policy: p, values: v, actors: 1, steps: 3, "
      "discount: 1}");
  played.agent.begin(predictor);
  const auto cursor = played.flow.open({});
  Datapoint batch;
  ASSERT_TRUE(cursor->next(batch));
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(batch.tensor(2).at(i), 101) << "reward 1, then the value";
  agent_source_of(*played.flow.flow())->stop();
}

TEST(AsyncRollouts, waits_for_room) {
  std::atomic<int> asked = 0;
  ScriptedPredictor inner = sure_player();
  ScriptedPredictor predictor([&](const Tensor& boards) {
    ++asked;
    return inner.run(boards);
  });
  PlayedFlow played(
      "AsyncRollouts: {environment: Catch, policy: p, values: v, actors: 1, steps: 1, queue: 5}");
  played.agent.begin(predictor);
  numbers_of(played, 1);
  while (asked < 4 + 5) std::this_thread::yield();
  // Four were taken, five wait, and one more may be in the hands of the actor; each needs two answers.
  EXPECT_LE(asked, 2 * (4 + 5 + 1));
  agent_source_of(*played.flow.flow())->stop();
}

TEST(AsyncRollouts, pass_errors_of_actors_on) {
  ScriptedPredictor predictor([](const Tensor&) -> std::vector<Tensor> { throw DataError("a test"); });
  PlayedFlow played("AsyncRollouts: {environment: Catch, policy: p, values: v}");
  played.agent.begin(predictor);
  EXPECT_THROW(numbers_of(played, 1), DataError);
  agent_source_of(*played.flow.flow())->stop();
}

TEST(AsyncRollouts, keep_the_record_of_episodes) {
  ScriptedPredictor predictor = sure_player();
  const std::string item = "AsyncRollouts: {environment: Catch, policy: p, values: v, actors: 2}";
  PlayedFlow first(item);
  first.agent.begin(predictor);
  numbers_of(first, 50);
  const State state = first.agent.save();
  agent_source_of(*first.flow.flow())->stop();
  PlayedFlow resumed(item);
  resumed.agent.load(state);
  EXPECT_GT(resumed.agent.episodes().episodes(), 0);
  EXPECT_EQ(resumed.agent.given(), 200);
  resumed.agent.begin(predictor);
  numbers_of(resumed, 5);
  agent_source_of(*resumed.flow.flow())->stop();
}

}  // namespace
}  // namespace tpack
