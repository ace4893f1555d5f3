#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "agents/actor_critic.h"
#include "agents/advantages.h"
#include "agents/agent_source.h"
#include "agents/async_predictor.h"
#include "agents/policy.h"
#include "core/stop.h"
#include "environment/environment_group.h"

namespace tpack {
namespace {

struct AsyncRolloutsParams : ActorCriticFields {
  int64_t actors = 8;
  int64_t steps = 5;
  int64_t queue = 64;
};

/// A step of an actor with its results.
struct ActedStep {
  Tensor state;
  ChosenAction choice;
  float advantage = 0;
  float value = 0;
};

/// The queue of steps from actors to training. Threads: any.
class StepQueue {
 public:
  explicit StepQueue(size_t capacity) : capacity_(capacity) {}

  /// Waits for room. Errors: Stopped after `end`.
  void push(ActedStep step) {
    std::unique_lock lock(mutex_);
    has_room_.wait(lock, [&] { return ended_ || steps_.size() < capacity_; });
    if (ended_) throw Stopped{};
    steps_.push_back(std::move(step));
    has_step_.notify_one();
  }
  /// Waits for a step. Errors: that of `end`.
  ActedStep pop() {
    std::unique_lock lock(mutex_);
    has_step_.wait(lock, [&] { return ended_ || !steps_.empty(); });
    if (error_) std::rethrow_exception(error_);
    if (ended_) throw Stopped{};
    ActedStep step = std::move(steps_.front());
    steps_.pop_front();
    has_room_.notify_one();
    return step;
  }
  void end(std::exception_ptr error = nullptr) {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    if (!error_) error_ = std::move(error);
    has_room_.notify_all();
    has_step_.notify_all();
  }

 private:
  const size_t capacity_;
  std::mutex mutex_;
  std::condition_variable has_room_;
  std::condition_variable has_step_;
  std::deque<ActedStep> steps_;
  bool ended_ = false;
  std::exception_ptr error_;
};

/// Actors in their own threads, started with the first sample.
class AsyncAgent final : public Agent {
 public:
  AsyncAgent(const AsyncRolloutsParams& p, uint64_t seed)
      : Agent({}), p_(p), seed_(seed), queue_(static_cast<size_t>(p.queue)) {
    spec_ = Registry<Environment>::make_item(p_.environment.item)->spec();
  }
  ~AsyncAgent() override {
    queue_.end();
    if (predictor_) predictor_->stop();
    for (std::thread& actor : actors_) actor.join();
  }

  /// As of the last sample.
  const EpisodeRecord& episodes() const override { return episodes_; }
  void begin(BatchPredictor& predictor) override {
    predictor_ = std::make_unique<AsyncPredictor>(predictor, p_.actors, spec_.observation);
  }

 protected:
  void give(Datapoint& out) override {
    if (actors_.empty()) start_actors();
    const ActedStep step = queue_.pop();
    out.renew(0, spec_.observation).copy_from(step.state);
    *out.renew(1, {DType::kInt32, {}}).data<int32_t>() = step.choice.action;
    *out.renew(2, {DType::kFloat32, {}}).data<float>() = step.advantage + step.value;
    *out.renew(3, {DType::kFloat32, {}}).data<float>() = step.choice.log_probability;
    take_finished_episodes();
  }
  State save_own() const override { return episodes_.save(); }
  void load_own(const State& state) override { episodes_.load(state); }

 private:
  struct Episode {
    double reward = 0;
    int64_t length = 0;
  };
  /// State of one actor.
  struct Player {
    EnvironmentGroup group;
    Rng numbers;
    Episode episode = {};  // so far
  };

  void start_actors() {
    const uint64_t seed = mix(seed_, static_cast<uint64_t>(given()));  // other episodes after a resume
    for (int64_t i = 0; i < p_.actors; ++i)
      actors_.emplace_back([this, own = mix(seed, static_cast<uint64_t>(i))] { run_actor(own); });
  }

  void run_actor(uint64_t seed) {
    try {
      Player player{EnvironmentGroup(p_.environment.item, 1, seed), Rng(mix(seed, stable_hash("policy")))};
      while (true) play(player);
    } catch (const Stopped&) {
      return;
    } catch (...) {
      queue_.end(std::current_exception());
      predictor_->stop();
    }
  }

  /// A few steps, as far as the episode goes.
  void play(Player& player) {
    std::vector<ActedStep> acted;
    std::vector<ValuedStep> valued;
    EpisodeEnd end = EpisodeEnd::kNone;
    while (static_cast<int64_t>(acted.size()) < p_.steps && end == EpisodeEnd::kNone) {
      const Tensor state = player.group.observations().row(0).clone();
      const std::vector<Tensor> answers = predictor_->ask(state);
      const auto value = static_cast<float>(answers[1].at(0));
      if (!valued.empty()) valued.back().next_value = value;
      const ChosenAction choice = draw_action(answers[0].span<float>(), player.numbers);
      const StepOutcome outcome = player.group.step(std::span(&choice.action, 1))[0];
      acted.push_back({state, choice, 0, value});
      valued.push_back({outcome.reward, outcome.end, value, 0});
      end = outcome.end;
      count(player, outcome);
    }
    if (end != EpisodeEnd::kOver)
      valued.back().next_value = static_cast<float>(predictor_->ask(player.group.outcomes().row(0))[1].at(0));
    const std::vector<float> advantages = generalized_advantages(valued, p_.discount, 1);
    for (size_t i = 0; i < acted.size(); ++i) {
      acted[i].advantage = advantages[i];
      queue_.push(std::move(acted[i]));
    }
  }

  void count(Player& player, const StepOutcome& outcome) {
    player.episode.reward += static_cast<double>(outcome.reward);
    ++player.episode.length;
    if (outcome.end == EpisodeEnd::kNone) return;
    const std::lock_guard lock(finished_mutex_);
    finished_.push_back(player.episode);
    player.episode = {};
  }
  void take_finished_episodes() {
    const std::lock_guard lock(finished_mutex_);
    for (const Episode& one : finished_) episodes_.add(one.reward, one.length);
    finished_.clear();
  }

  AsyncRolloutsParams p_;
  uint64_t seed_;
  EnvironmentSpec spec_;
  EpisodeRecord episodes_;
  std::mutex finished_mutex_;
  std::vector<Episode> finished_;
  StepQueue queue_;
  std::unique_ptr<AsyncPredictor> predictor_;
  std::vector<std::thread> actors_;
};

/// The episodes of an actor depend on the seed, but the weights during an episode depend on the timing of
/// threads, so no two runs are the same. A resumed run continues with new episodes. Shapes: state: the
/// environment's observation; action int32, return, log_probability: float32 []. Source: Mnih et al. 2016,
/// Asynchronous Methods for Deep Reinforcement Learning; tensorpack examples/A3C-Gym (Batch-A3C).
class AsyncRollouts final : public AgentSource {
 public:
  using Params = AsyncRolloutsParams;
  static Schema<Params> schema() {
    return with_actor_critic_fields(
               Schema<Params>("Steps of actors that play in their own threads with the current weights while "
                              "the model trains (batch A3C): `state`, `action`, `return`, `log_probability`. "
                              "One predictor serves all actors.")
                   .example(
                       "AsyncRollouts: {environment: CartPole, policy: policy, values: value, actors: 4}"))
        .field("actors", &Params::actors, between(1, 1024), "threads, each with an environment")
        .field(
            "steps", &Params::steps, at_least(1),
            "steps of an actor at a time; `return` has their rewards, then the value of the state after them")
        .field("queue", &Params::queue, at_least(1),
               "largest number of steps that wait for training; a longer queue has steps of older weights");
  }
  explicit AsyncRollouts(Params p) : p_(std::move(p)) {
    environment_ = Registry<Environment>::make_item(p_.environment.item)->spec();
  }

  Spec spec() const override {
    return {{"state", environment_.observation},
            {"action", {DType::kInt32, {}}},
            {"return", {DType::kFloat32, {}}},
            {"log_probability", {DType::kFloat32, {}}}};
  }
  AgentModel model() const override {
    return {.outputs = {{p_.policy, environment_.actions}, {p_.values, 1}},
            .batch = p_.actors,
            .is_asynchronous = true};
  }

 protected:
  std::unique_ptr<Agent> make_agent(uint64_t seed) const override {
    return std::make_unique<AsyncAgent>(p_, seed);
  }

 private:
  Params p_;
  EnvironmentSpec environment_;
};

TPACK_REGISTER(Source, AsyncRollouts, "AsyncRollouts");

}  // namespace
}  // namespace tpack
