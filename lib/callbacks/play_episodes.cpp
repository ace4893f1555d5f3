#include <algorithm>
#include <memory>
#include <numeric>

#include "core/stop.h"
#include "environment/environment_group.h"
#include "predict/predictor.h"
#include "train/callback.h"

namespace tpack {
namespace {

struct PlayEpisodesParams {
  Slot<Environment> environment;
  int64_t episodes = 100;
  Ref<LayerOutput> values;
  std::string input = "state";
};

/// Each episode has a separate environment, with one common prediction for all. Source: tensorpack
/// examples/DeepQNetwork/common.py, Evaluator.
class PlayEpisodes final : public Callback {
 public:
  using Params = PlayEpisodesParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Plays complete episodes with the current model, always choosing the best action, and reports "
               "greedy_reward (the mean), greedy_reward_min, greedy_reward_max and greedy_episode_length.")
        .example("PlayEpisodes: {environment: CartPole, episodes: 100, values: q}")
        .field("environment", &Params::environment, "the environment")
        .required()
        .field("episodes", &Params::episodes, between(1, 10000), "number of episodes")
        .field(
            "values", &Params::values,
            "output of the model: values or scores of the actions; the action with the largest one is chosen")
        .required()
        .field("input", &Params::input, "input of the model for the observations");
  }
  explicit PlayEpisodes(Params p)
      : Callback({.identity = p.values.name, .only_one = true, .may_end_early = {HookPhase::kTriggerEpoch}}),
        p_(std::move(p)) {
    spec_ = Registry<Environment>::make_item(p_.environment.item)->spec();
  }

  void setup(Setup& setup) override {
    predictor_ = std::make_unique<Predictor>(setup.run().model_handle(),
                                             std::vector<PredictOutput>{{p_.values.name, p_.values}},
                                             std::vector<std::string>{p_.input});
    const TensorSpec& values = predictor_->forms()[0].spec;
    if (values.dtype != DType::kFloat32 || values.shape.elements() != spec_.actions)
      throw ConfigError(p_.values.position, "callback PlayEpisodes: output '" + p_.values.name + "' is " +
                                                values.str() + " for each state, but the environment has " +
                                                std::to_string(spec_.actions) + " actions");
    for (const char* name : kRewards) setup.provides(name, ScalarOrder::When::kTrigger, Goal::kMax);
    setup.provides(kLength);
  }
  void compile(Run& /*run*/) override {
    predictor_->compile({{spec_.observation.dtype, spec_.observation.shape.prepend(p_.episodes)}});
  }
  void trigger(Run& run) override {
    const Played played =
        play(mix(mix(run.seed(), stable_hash("PlayEpisodes")), static_cast<uint64_t>(run.global_step())),
             run.stop_token());
    const auto [least, most] = std::minmax_element(played.rewards.begin(), played.rewards.end());
    const double sum = std::accumulate(played.rewards.begin(), played.rewards.end(), 0.0);
    const auto episodes = static_cast<double>(p_.episodes);
    size_t i = 0;
    for (const double value : {sum / episodes, *least, *most})
      run.monitors().put_scalar(kRewards[i++], value);
    run.monitors().put_scalar(kLength, static_cast<double>(played.steps) / episodes);
  }

 private:
  static constexpr std::array kRewards = {"greedy_reward", "greedy_reward_min", "greedy_reward_max"};
  static constexpr const char* kLength = "greedy_episode_length";
  struct Played {
    std::vector<double> rewards;  // by episode
    int64_t steps = 0;            // of all
  };

  /// The first episode of each environment. Errors: Stopped.
  Played play(uint64_t seed, const std::stop_token& stop) {
    EnvironmentGroup group(p_.environment.item, p_.episodes, seed);
    const auto count = static_cast<size_t>(p_.episodes);
    Played played{std::vector<double>(count)};
    std::vector<bool> is_done(count);
    std::vector<int32_t> actions(count);
    while (std::find(is_done.begin(), is_done.end(), false) != is_done.end()) {
      if (stop.stop_requested()) throw Stopped{};
      const Tensor values = predictor_->run({group.observations()})[0];
      for (size_t i = 0; i < count; ++i) {
        const auto row = values.row(static_cast<int64_t>(i)).span<float>();
        actions[i] = static_cast<int32_t>(std::max_element(row.begin(), row.end()) - row.begin());
      }
      const std::span<const StepOutcome> outcomes = group.step(actions);
      for (size_t i = 0; i < count; ++i) {
        if (is_done[i]) continue;
        played.rewards[i] += static_cast<double>(outcomes[i].reward);
        ++played.steps;
        is_done[i] = outcomes[i].end != EpisodeEnd::kNone;
      }
    }
    return played;
  }

  Params p_;
  EnvironmentSpec spec_;
  std::unique_ptr<Predictor> predictor_;
};

TPACK_REGISTER(Callback, PlayEpisodes, "PlayEpisodes");

}  // namespace
}  // namespace tpack
