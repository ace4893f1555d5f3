#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "agents/scripted_predictor.h"
#include "dataflow/flow_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

constexpr const char* kGames =
    "ExpReplay: {environment: Catch, values: q, memory_size: 400, init_memory_size: 100, samples_per_step: 2";

ScriptedPredictor best_player() {
  return ScriptedPredictor([](const Tensor& boards) { return std::vector{follow_the_ball(boards)}; });
}

/// What the agent gives, learns from and keeps.
std::string play_of(const std::string& item) {
  PlayedFlow played(item);
  ScriptedPredictor predictor = best_player();
  played.agent.begin(predictor);
  std::string text = played.flow.spec().str();
  for (int64_t step = 0; step < 40; ++step) {
    for (const double value : numbers_of(played, 1)) text += " " + shortest(value);
    if (played.flow.spec().find("weight")) played.agent.learn(Tensor::of<float>({4}, {0.1F, 2, 0.5F, 1}));
  }
  text += " calls " + std::to_string(predictor.calls);
  return text + played.agent.save().to_json() + std::to_string(played.agent.save().tensors().size());
}

const live::Fields kExpReplay(
    "source", "ExpReplay",
    {.base = "{environment: Catch, values: q, priorities: e, exploration: 0.5, memory_size: 60, "
             "init_memory_size: 30, samples_per_step: 3}",
     .values = {{"environment", "{Catch: {rows: 6}}"},
                {"values", "other"},
                {"priorities", "~"},
                {"memory_size", "32"},
                {"init_memory_size", "20"}},
     .left_out = {{"values", "AgentModel has it: says_what_it_asks_the_model_for"}},
     .build = play_of});

TEST(ExpReplay, says_what_it_asks_the_model_for) {
  const DataFlow flow = make_flow(
      parse_yaml("[" + std::string(kGames) + ", environments: 3, priorities: e}, BatchData: {batch_size: 4}]",
                 "flow.yaml"));
  const AgentModel model = agent_source_of(*flow.flow())->model();
  ASSERT_EQ(model.outputs.size(), 1);
  EXPECT_EQ(model.outputs[0].output.name, "q");
  EXPECT_EQ(model.outputs[0].size, 3) << "actions";
  EXPECT_EQ(model.batch, 3);
  EXPECT_EQ(model.feedback.name, "e");
  EXPECT_EQ(flow.spec().str(),
            "state float32 [4, 10, 5], action int32 [4], reward float32 [4], is_over float32 [4], next_state "
            "float32 [4, 10, 5], weight float32 [4]");
}

TEST(ExpReplay, does_what_has_the_largest_value) {
  PlayedFlow played(std::string(kGames) + ", exploration: 0}");
  ScriptedPredictor predictor = best_player();
  played.agent.begin(predictor);
  numbers_of(played, 100);
  EXPECT_EQ(predictor.calls, 100 + 4 * 100 / 2) << "at first 100 steps, then one for two samples";
  EXPECT_EQ(played.agent.episodes().mean_reward(), 1);
  EXPECT_EQ(played.agent.episodes().mean_length(), 9);
}

TEST(ExpReplay, explores_without_a_question) {
  PlayedFlow played(std::string(kGames) + ", exploration: 1}");
  ScriptedPredictor predictor = best_player();
  played.agent.begin(predictor);
  numbers_of(played, 100);
  EXPECT_EQ(predictor.calls, 0);
  EXPECT_LT(*played.agent.episodes().mean_reward(), 0);
  played.agent.hyper_parameters()[0].value = 0;
  numbers_of(played, 500);
  EXPECT_GT(predictor.calls, 0);
  EXPECT_EQ(played.agent.episodes().mean_reward(), 1);
}

/// Every sample is a step of the rules: the ball falls by one row, the paddle goes where the action says.
TEST(ExpReplay, gives_steps_of_the_game) {
  PlayedFlow played(std::string(kGames) + ", environments: 4}");
  ScriptedPredictor predictor = best_player();
  played.agent.begin(predictor);
  const auto cursor = played.flow.open({});
  Datapoint batch;
  int overs = 0;
  for (int n = 0; n < 100; ++n) {
    ASSERT_TRUE(cursor->next(batch));
    for (int64_t i = 0; i < 4; ++i) {
      const auto before = batch.tensor(0).row(i).span<float>();
      const auto after = batch.tensor(4).row(i).span<float>();
      const auto place_in = [](const auto& cells, int64_t from, int64_t to) {
        return std::find(cells.begin() + from, cells.begin() + to, 1.0F) - cells.begin();
      };
      const bool is_over = batch.tensor(3).at(i) == 1;
      EXPECT_EQ(batch.tensor(2).at(i) != 0, is_over) << "the reward comes at the end";
      overs += is_over ? 1 : 0;
      if (is_over) continue;
      EXPECT_EQ(place_in(after, 0, 50), place_in(before, 0, 50) + 5);
      const int64_t moved = std::clamp<int64_t>(
          place_in(before, 45, 50) + static_cast<int64_t>(batch.tensor(1).at(i)) - 1, 45, 49);
      const bool is_above = place_in(after, 0, 50) >= 45;  // the ball is in the row of the paddle
      if (is_above) continue;
      EXPECT_EQ(place_in(after, 45, 50), moved);
    }
  }
  EXPECT_NEAR(overs, 400 / 9.0, 25);
}

TEST(ExpReplay, draws_by_priority_and_corrects_for_it) {
  PlayedFlow played(
      "ExpReplay: {environment: Catch, values: q, init_memory_size: 100, samples_per_step: 1000000, "
      "priorities: e, "
      "importance: 1, priority_exponent: 1}");  // no new steps, which would be drawn before long
  ScriptedPredictor predictor = best_player();
  played.agent.begin(predictor);
  const auto cursor = played.flow.open({});
  Datapoint batch;
  double rewarded = 0;
  double weighted = 0;
  double all_weights = 0;
  constexpr int kBatches = 3000;
  for (int n = 0; n < kBatches; ++n) {
    ASSERT_TRUE(cursor->next(batch));
    std::vector<float> errors;
    for (int64_t i = 0; i < 4; ++i) {
      const bool has_reward = batch.tensor(2).at(i) != 0;
      errors.push_back(has_reward ? -3 : 1);
      if (n < kBatches / 3) continue;  // until all have their priority
      rewarded += has_reward ? 1 : 0;
      weighted += has_reward ? batch.tensor(5).at(i) : 0;
      all_weights += batch.tensor(5).at(i);
    }
    played.agent.learn(Tensor::of({4}, errors));
  }
  // One step of nine has a reward, and three times the priority of the others: 3 / (3 + 8).
  EXPECT_NEAR(rewarded / (kBatches * 8 / 3.0), 3 / 11.0, 0.05);
  EXPECT_NEAR(weighted / all_weights, 1 / 9.0, 0.03) << "as often as without priorities";
}

TEST(ExpReplay, rejects_priorities_that_are_not_one_for_each_sample) {
  PlayedFlow played(std::string(kGames) + ", priorities: e}");
  ScriptedPredictor predictor = best_player();
  played.agent.begin(predictor);
  played.agent.learn(Tensor::of<float>({4}, {1, 2, 3, 4}));  // of no sample: the batch was there before
  numbers_of(played, 1);
  EXPECT_THROW(played.agent.learn(Tensor::of<float>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})), ConfigError);
}

TEST(ExpReplay, keeps_priorities_that_a_step_has_not_computed) {
  PlayedFlow played(std::string(kGames) + ", priorities: e}");
  ScriptedPredictor predictor = best_player();
  played.agent.begin(predictor);
  numbers_of(played, 1);
  played.agent.learn_nothing();
  numbers_of(played, 1);
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  played.agent.learn(Tensor::of<float>({4}, {kNan, kInfinity, -kInfinity, kNan}));  // only of the last four
  for (int i = 0; i < 20; ++i) {
    for (const double number : numbers_of(played, 1)) EXPECT_TRUE(std::isfinite(number));
    played.agent.learn(Tensor::of<float>({4}, {1, 2, 3, kNan}));
  }
}

/// Each sample of a batch comes with a new step, and four steps are remembered: the first sample is not there
/// any more when its error comes back, the last one is.
TEST(ExpReplay, gives_no_step_the_priority_of_the_one_that_it_has_replaced) {
  PlayedFlow played(
      "ExpReplay: {environment: Catch, values: q, priorities: e, priority_exponent: 1, memory_size: 4, "
      "init_memory_size: 4, samples_per_step: 1}");
  ScriptedPredictor predictor = best_player();
  played.agent.begin(predictor);
  for (int n = 0; n < 20; ++n) {
    numbers_of(played, 1);
    played.agent.learn(Tensor::of<float>({4}, {1000, 0.5, 0.5, 0.5}));
    const State own = played.agent.save().part("own");
    EXPECT_EQ(own.get<double>("largest_priority"), 1) << "that of a new step";
    const auto priorities = own.get<Tensor>("priorities");
    const std::span<const double> all = priorities.span<double>();
    EXPECT_LE(*std::max_element(all.begin(), all.end()), 1);
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](double p) { return std::abs(p - 0.5) < 1e-5; }));
  }
}

TEST(ExpReplay, goes_on_from_what_was_saved) {
  for (const char* options : {", exploration: 0.3}", ", exploration: 0.3, priorities: e}"}) {
    const std::string item = kGames + std::string(options);
    const auto play = [&](PlayedFlow& played, int64_t steps) {
      std::vector<double> all;
      for (int64_t i = 0; i < steps; ++i) {
        const std::vector<double> batch = numbers_of(played, 1);
        all.insert(all.end(), batch.begin(), batch.end());
        if (played.flow.spec().find("weight"))
          played.agent.learn(Tensor::of<float>({4}, {0.1F, 2, 0.5F * static_cast<float>(i % 3), 1}));
      }
      return all;
    };
    ScriptedPredictor predictor = best_player();
    PlayedFlow whole(item);
    whole.agent.begin(predictor);
    play(whole, 130);
    PlayedFlow resumed(item);
    resumed.agent.load(whole.agent.save());
    resumed.agent.begin(predictor);
    EXPECT_EQ(play(resumed, 60), play(whole, 60)) << item;
    EXPECT_EQ(resumed.agent.save().to_json(), whole.agent.save().to_json());
  }
}

TEST(ExpReplay, fills_a_memory_again_that_was_not_saved) {
  const std::string item = kGames + std::string(", save_memory: false, exploration: 0}");
  ScriptedPredictor predictor = best_player();
  PlayedFlow first(item);
  first.agent.begin(predictor);
  numbers_of(first, 5);
  EXPECT_TRUE(first.agent.save().tensors().empty());
  PlayedFlow resumed(item);
  resumed.agent.load(first.agent.save());
  resumed.agent.begin(predictor);
  predictor.calls = 0;
  numbers_of(resumed, 1);
  EXPECT_GE(predictor.calls, 100);
}

TEST(ExpReplay, rejects_sizes_that_do_not_fit) {
  const auto made = [](const std::string& params) {
    return make_flow(parse_yaml("[ExpReplay: {environment: Catch, values: q, " + params + "}]", "flow.yaml"));
  };
  EXPECT_THROW(made("memory_size: 10"), ConfigError) << "init_memory_size is larger";
  EXPECT_THROW(made("memory_size: 10, init_memory_size: 5, environments: 6"), ConfigError);
  EXPECT_THROW(make_flow(parse_yaml("[ExpReplay: {environment: Catsh, values: q}]", "flow.yaml")),
               ConfigError);
}

}  // namespace
}  // namespace tpack
