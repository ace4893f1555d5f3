#include "train/agent_link.h"

#include <array>

#include <gmock/gmock-matchers.h>

#include "checkpoint/layout.h"
#include "support/errors.h"
#include "support/small_training.h"

namespace tpack {
namespace {

using testing::ElementsAre;

constexpr const char* kQModel = R"(
inputs:
  state: {shape: [10, 5], dtype: float32}
  action: {shape: [], dtype: int32}
  reward: {shape: [], dtype: float32}
  is_over: {shape: [], dtype: float32}
  next_state: {shape: [10, 5], dtype: float32}
  weight: {shape: [], dtype: float32}
networks:
  online: [{FullyConnected: {units: 8, activation: Tanh}}, {FullyConnected: {units: 3}}]
layers:
  - Call: {name: q, network: online, input: state}
  - Call: {name: next_q, network: online, input: next_state}
  - TDError: {name: td_error, input: [q, action, reward, is_over, next_q]}
cost: [{Huber: {predictions: td_error, targets: 0, sample_weights: weight}}]
)";
constexpr const char* kReplay =
    "ExpReplay: {environment: Catch, values: q, priorities: td_error, memory_size: 60, init_memory_size: 20, "
    "exploration: 0.3, environments: 2, samples_per_step: 3}";

constexpr const char* kPolicyModel = R"(
inputs:
  state: {shape: [4], dtype: float32}
  action: {shape: [], dtype: int32}
  advantage: {shape: [], dtype: float32}
  return: {shape: [], dtype: float32}
  log_probability: {shape: [], dtype: float32}
layers:
  - FullyConnected: {name: body, input: state, units: 8, activation: Tanh}
  - FullyConnected: {name: value, units: 1}
  - FullyConnected: {name: policy, input: body, units: 2}
cost:
  - ClippedPolicyGradient: {logits: policy, actions: action, advantages: advantage, log_probabilities: log_probability}
  - MeanSquaredError: {predictions: value, targets: return, weight: 0.5}
)";
constexpr const char* kRolloutSource =
    "Rollouts: {environment: CartPole, policy: policy, values: value, environments: 2, steps: 8, epochs: 2}";

constexpr const char* kAsyncModel = R"(
inputs:
  state: {shape: [4], dtype: float32}
  action: {shape: [], dtype: int32}
  return: {shape: [], dtype: float32}
layers:
  - FullyConnected: {name: body, input: state, units: 8, activation: Tanh}
  - FullyConnected: {name: value, units: 1}
  - FullyConnected: {name: policy, input: body, units: 2}
  - Reshape: {name: expected, input: value, shape: []}
  - Elementwise: {name: advantage, input: return, expression: x - expected}
cost:
  - PolicyGradient: {logits: policy, actions: action, advantages: advantage}
  - MeanSquaredError: {predictions: value, targets: return, weight: 0.5}
)";
constexpr const char* kAsyncSource =
    "AsyncRollouts: {environment: CartPole, policy: policy, values: value, actors: 3}";

std::unique_ptr<SmallTraining> training_of(const std::string& source, const std::string& model,
                                           const std::string& trainer = "Simple",
                                           const std::string& input = "Feed") {
  DataFlow flow = make_flow(parse_yaml("[" + source + ", {BatchData: {batch_size: 4}}]", "flow.yaml"));
  return std::make_unique<SmallTraining>(std::move(flow), trainer, "Adam: {learning_rate: 0.01}",
                                         EngineSettings::Backend::kKernels, make_self_comm(), model_of(model),
                                         input);
}

std::string error_of(const std::string& source, const std::string& model,
                     const std::string& trainer = "Simple", const std::string& input = "Feed") {
  return error_from([&] { training_of(source, model, trainer, input); });
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

/// The best action by values with random numbers, which are others in each question.
std::pair<std::string, std::string> with_noise() {
  return {replaced(replaced(kReplay, "values: q", "values: noisy"), "exploration: 0.3", "exploration: 0"),
          replaced(kQModel, "cost:",
                   "  - RandomNormal: {name: noise, input: state, shape: [3]}\n"
                   "  - Add: {name: noisy, input: [q, noise]}\ncost:")};
}

class LearnsByPlaying : public testing::TestWithParam<std::pair<std::string, std::string>> {
 protected:
  static std::map<std::string, Tensor> train(SmallTraining& training, int64_t from, int64_t to) {
    training.run(from, to);
    return variables_of(training.trainer());
  }
  static std::unique_ptr<SmallTraining> begun() {
    auto training = training_of(GetParam().first, GetParam().second);
    training->trainer().initialize();
    return training;
  }
};

TEST_P(LearnsByPlaying, continues_bit_exactly_from_saved_content) {
  const auto whole = begun();
  const auto expected = train(*whole, 0, 60);
  CheckpointContent content;
  {
    const auto first = begun();
    train(*first, 0, 35);
    content = first->saved();
  }
  const auto resumed = begun();
  resumed->trainer().load(content, "model-35.h5");
  expect_bit_equal(train(*resumed, 35, 60), expected);
  const size_t first_statistic =
      whole->trainer().part<StepStatistics>().statistics().size() - AgentLink::statistics().size();
  for (size_t i = 0; i < AgentLink::statistics().size(); ++i)
    EXPECT_EQ(resumed->trainer().part<StepStatistics>().statistic(first_statistic + i),
              whole->trainer().part<StepStatistics>().statistic(first_statistic + i));
}

std::string name_of_player(const testing::TestParamInfo<std::pair<std::string, std::string>>& one) {
  constexpr std::array kNames = {"dqn", "ppo", "dqn_with_noise"};
  return kNames.at(one.index);
}
INSTANTIATE_TEST_SUITE_P(Of, LearnsByPlaying,
                         testing::Values(std::pair(kReplay, kQModel), std::pair(kRolloutSource, kPolicyModel),
                                         with_noise()),
                         name_of_player);

TEST(AgentLink, gives_the_trainer_its_statistics_and_hyper_parameters) {
  const auto training = training_of(kReplay, kQModel);
  Trainer& trainer = training->trainer();
  EXPECT_THAT(trainer.part<TrainedVariables>().hyper_parameters(),
              ElementsAre("learning_rate", "exploration", "importance"));
  trainer.initialize();
  EXPECT_NEAR(trainer.part<TrainedVariables>().hyper_parameter("exploration"), 0.3, 1e-12);
  trainer.part<TrainedVariables>().set_hyper_parameter("exploration", 0.125);
  EXPECT_EQ(trainer.part<TrainedVariables>().hyper_parameter("exploration"), 0.125);
  EXPECT_NEAR(trainer.part<TrainedVariables>().hyper_parameter("learning_rate"), 0.01, 1e-7);
  const std::vector<StepStatistic> statistics = trainer.part<StepStatistics>().statistics();
  const size_t count = statistics.size();
  EXPECT_EQ(statistics[count - 3].name, "mean_reward");
  EXPECT_TRUE(statistics[count - 3].is_mean);
  EXPECT_FALSE(trainer.part<StepStatistics>().statistic(count - 3)) << "before the first episode";
  for (int64_t step = 0; step < 60; ++step) trainer.step(step, {});
  EXPECT_TRUE(trainer.part<StepStatistics>().statistic(count - 3));
  EXPECT_EQ(trainer.part<StepStatistics>().statistic(count - 2), 9) << "steps of an episode of Catch";
  EXPECT_GT(*trainer.part<StepStatistics>().statistic(count - 1), 2);
}

TEST(AgentLink, actors_in_threads_see_the_weights_of_the_training) {
  const auto training = training_of(kAsyncSource, kAsyncModel);
  Trainer& trainer = training->trainer();
  trainer.initialize();
  const auto before = variables_of(trainer);
  training->run(0, 300);
  const CheckpointContent content = training->saved();
  const auto resumed = training_of(kAsyncSource, kAsyncModel);
  resumed->trainer().initialize();
  resumed->trainer().load(content, "model-300.h5");
  resumed->run(300, 320);
  EXPECT_GE(*resumed->trainer().part<StepStatistics>().statistic(
                resumed->trainer().part<StepStatistics>().statistics().size() - 1),
            10)
      << "episodes of both";
}

TEST(AgentLink, rejects_what_cannot_play) {
  EXPECT_TRUE(says(error_of(kReplay, kQModel, "Simple", "Queue"), {"write input: Feed"}));
  for (const char* trainer : {"Simple: {accumulate: 2}", "SyncMultiGPU: {devices: [cpu:0, cpu:1]}",
                              "AsyncMultiGPU: {devices: [cpu:0]}"})
    EXPECT_TRUE(says(error_of(kReplay, kQModel, trainer), {"one batch in a step"})) << trainer;
  for (const auto& [source, model, what] : std::vector<std::array<std::string, 3>>{
           {replaced(kReplay, "values: q", "values: p"), kQModel, "unknown layer or input 'p'"},
           {replaced(kReplay, "values: q", "values: td_error"), kQModel, "the outputs depend on input"},
           {kReplay, replaced(kQModel, "units: 3", "units: 4"),
            "output 'q' is float32 [4] for each state, but 3"},
           {kReplay, "feed: {state: next_state}" + std::string(kQModel), "component 'state'"}})
    EXPECT_TRUE(says(error_of(source, model), {what}));
}

TEST(AgentLink, rejects_checkpoints_of_other_agents) {
  const auto saved = [](const std::string& source) {
    const auto training = training_of(source, kQModel);
    training->trainer().initialize();
    training->run(0, 3);
    return training->saved();
  };
  const auto load = [](const CheckpointContent& content) {
    const auto training = training_of(kReplay, kQModel);
    training->trainer().initialize();
    training->trainer().load(content, "model-3.h5");
  };
  EXPECT_NO_THROW(load(saved(kReplay)));
  EXPECT_THROW(load(saved(replaced(kReplay, "environments: 2", "environments: 3"))), CheckpointError);
  EXPECT_THROW(load(saved(replaced(kReplay, "memory_size: 60", "memory_size: 20"))), CheckpointError);
  CheckpointContent without = saved(kReplay);
  without.texts.erase(layout::kAgent);
  EXPECT_THROW(load(without), CheckpointError);
}

}  // namespace
}  // namespace tpack
