#include <algorithm>
#include <cmath>
#include <numeric>

#include "agents/actor_critic.h"
#include "agents/advantages.h"
#include "agents/agent_source.h"
#include "agents/policy.h"
#include "environment/environment_group.h"

namespace tpack {
namespace {

struct RolloutsParams : ActorCriticFields {
  int64_t environments = 8;
  int64_t steps = 128;
  int64_t epochs = 4;
  double decay = 0.95;
  bool normalize = true;
};

/// Acts by the policy for some steps, then provides all these steps several times.
class RolloutAgent final : public Agent {
 public:
  RolloutAgent(const RolloutsParams& p, uint64_t seed)
      : Agent({}),
        p_(p),
        seed_(seed),
        group_(p.environment.item, p.environments, seed),
        size_(p.environments * p.steps),
        states_(
            Tensor::zeros({group_.spec().observation.dtype, group_.spec().observation.shape.prepend(size_)})),
        actions_(Tensor::zeros({DType::kInt32, {size_}})),
        advantages_(Tensor::zeros({DType::kFloat32, {size_}})),
        returns_(Tensor::zeros({DType::kFloat32, {size_}})),
        log_probabilities_(Tensor::zeros({DType::kFloat32, {size_}})),
        chosen_(static_cast<size_t>(p.environments)) {}

  const EpisodeRecord& episodes() const override { return group_.episodes(); }
  void begin(BatchPredictor& predictor) override { predictor_ = &predictor; }

 protected:
  void give(Datapoint& out) override {
    if (given() % (size_ * p_.epochs) == 0) collect();
    const int64_t place = given() % size_;
    const auto round = static_cast<uint64_t>(given() / size_);
    const Permutation order(static_cast<uint64_t>(size_), mix(mix(seed_, stable_hash("order")), round));
    const auto step = static_cast<int64_t>(order(static_cast<uint64_t>(place)));
    out.renew(0, group_.spec().observation).copy_from(states_.row(step));
    *out.renew(1, {DType::kInt32, {}}).data<int32_t>() = actions_.span<int32_t>()[static_cast<size_t>(step)];
    size_t component = 2;
    for (const Tensor* values : {&advantages_, &returns_, &log_probabilities_})
      *out.renew(component++, {DType::kFloat32, {}}).data<float>() =
          values->span<float>()[static_cast<size_t>(step)];
  }

  State save_own() const override {
    State state;
    state.put("environments", group_.save());
    for (const auto& [name, values] : arrays()) state.put(name, *values);
    return state;
  }
  void load_own(const State& state) override {
    group_.load(state.part("environments"));
    for (const auto& [name, values] : arrays()) {
      const Tensor saved = state.get<Tensor>(name);
      if (!(saved.spec() == values->spec()))
        throw CheckpointError("Rollouts",
                              std::string("has ") + name + " " + saved.spec().str() + " in the checkpoint, " +
                                  values->spec().str() +
                                  " in this run; environment, environments and steps must be the same");
      values->copy_from(saved);
    }
  }

 private:
  std::vector<std::pair<const char*, const Tensor*>> arrays() const {
    return {{"states", &states_},
            {"actions", &actions_},
            {"advantages", &advantages_},
            {"returns", &returns_},
            {"log_probabilities", &log_probabilities_}};
  }

  /// Row of a step: steps of an environment are adjacent.
  size_t row(int64_t environment, int64_t step) const {
    return static_cast<size_t>(environment * p_.steps + step);
  }

  void collect() {
    std::vector<ValuedStep> steps(static_cast<size_t>(size_));
    Rng numbers(mix(seed_, stable_hash("policy")), static_cast<uint64_t>(given()));
    std::vector<Tensor> answers = predictor_->run(group_.observations());
    for (int64_t t = 0; t < p_.steps; ++t) {
      act(t, answers[0], numbers);
      const std::span<const StepOutcome> outcomes = group_.step(chosen_);
      const Tensor values = answers[1];
      answers = predictor_->run(group_.observations());
      const Tensor next_values = values_of(outcomes, answers[1]);
      for (int64_t e = 0; e < p_.environments; ++e) {
        const StepOutcome& outcome = outcomes[static_cast<size_t>(e)];
        steps[row(e, t)] = {outcome.reward, outcome.end, static_cast<float>(values.at(e)),
                            static_cast<float>(next_values.at(e))};
      }
    }
    judge(steps);
  }

  /// Stores the observation and the action of step t.
  void act(int64_t t, const Tensor& logits, Rng& numbers) {
    for (int64_t e = 0; e < p_.environments; ++e) {
      const ChosenAction choice = draw_action(logits.row(e).span<float>(), numbers);
      const size_t at = row(e, t);
      chosen_[static_cast<size_t>(e)] = choice.action;
      states_.row(static_cast<int64_t>(at)).copy_from(group_.observations().row(e));
      actions_.span<int32_t>()[at] = choice.action;
      log_probabilities_.span<float>()[at] = choice.log_probability;
    }
  }

  /// Values of the states after the step: of the new states, or, for an episode that was cut off, of its last
  /// state.
  Tensor values_of(std::span<const StepOutcome> outcomes, const Tensor& new_values) {
    const bool any_is_cut_off = std::any_of(outcomes.begin(), outcomes.end(), [](const StepOutcome& outcome) {
      return outcome.end == EpisodeEnd::kCutOff;
    });
    return any_is_cut_off ? predictor_->run(group_.outcomes())[1] : new_values;
  }

  void judge(std::span<const ValuedStep> steps) {
    const auto advantages = advantages_.span<float>();
    const auto length = static_cast<size_t>(p_.steps);
    for (size_t first = 0; first < steps.size(); first += length) {
      const auto found = generalized_advantages(steps.subspan(first, length), p_.discount, p_.decay);
      std::copy(found.begin(), found.end(), advantages.begin() + static_cast<std::ptrdiff_t>(first));
    }
    for (size_t i = 0; i < steps.size(); ++i) returns_.span<float>()[i] = advantages[i] + steps[i].value;
    if (!p_.normalize) return;
    const auto count = static_cast<double>(size_);
    const double mean = std::accumulate(advantages.begin(), advantages.end(), 0.0) / count;
    double squares = 0;
    for (const float one : advantages) squares += std::pow(static_cast<double>(one) - mean, 2);
    const double deviation = std::sqrt(squares / count) + 1e-8;
    for (float& one : advantages) one = static_cast<float>((static_cast<double>(one) - mean) / deviation);
  }

  RolloutsParams p_;
  uint64_t seed_;
  EnvironmentGroup group_;
  int64_t size_;  // steps of a rollout, of all environments
  Tensor states_;
  Tensor actions_;
  Tensor advantages_;
  Tensor returns_;
  Tensor log_probabilities_;
  std::vector<int32_t> chosen_;
  BatchPredictor* predictor_ = nullptr;
};

/// Shapes: state: the environment's observation; action int32, advantage, return, log_probability: float32
/// []. Source: Schulman et al. 2017, Proximal Policy Optimization Algorithms, algorithm 1.
class Rollouts final : public AgentSource {
 public:
  using Params = RolloutsParams;
  static Schema<Params> schema() {
    return with_actor_critic_fields(
               Schema<Params>(
                   "Steps that a policy makes in several environments at once. Each is used several times, "
                   "in random order, before new ones are made (PPO): `state`, `action`, `advantage`, "
                   "`return`, `log_probability`. The same in every run, for any number of threads.")
                   .example("Rollouts: {environment: CartPole, policy: policy, values: value, steps: 64, "
                            "epochs: 3}"))
        .field("environments", &Params::environments, between(1, 4096),
               "number of copies that run in parallel, with one prediction for all of them")
        .field("steps", &Params::steps, between(1, 1e6), "steps of each environment in a rollout")
        .field("epochs", &Params::epochs, at_least(1),
               "how often each step is used; if the batch size divides steps * environments, no batch mixes "
               "two rollouts")
        .field("decay", &Params::decay, between(0, 1),
               "lambda of generalized advantage estimation: 1 uses only the rewards, 0 only the value of the "
               "next state")
        .field("normalize", &Params::normalize,
               "normalize the advantages of each rollout to mean 0 and standard deviation 1");
  }
  explicit Rollouts(Params p) : p_(std::move(p)) {
    environment_ = Registry<Environment>::make_item(p_.environment.item)->spec();
  }

  Spec spec() const override {
    return {{"state", environment_.observation},
            {"action", {DType::kInt32, {}}},
            {"advantage", {DType::kFloat32, {}}},
            {"return", {DType::kFloat32, {}}},
            {"log_probability", {DType::kFloat32, {}}}};
  }
  AgentModel model() const override {
    return {.outputs = {{p_.policy, environment_.actions}, {p_.values, 1}}, .batch = p_.environments};
  }

 protected:
  std::unique_ptr<Agent> make_agent(uint64_t seed) const override {
    return std::make_unique<RolloutAgent>(p_, seed);
  }

 private:
  Params p_;
  EnvironmentSpec environment_;
};

TPACK_REGISTER(Source, Rollouts, "Rollouts");

}  // namespace
}  // namespace tpack
