#include <algorithm>
#include <cmath>
#include <optional>

#include "agents/agent_source.h"
#include "agents/priority_tree.h"
#include "agents/replay_memory.h"
#include "environment/environment_group.h"

namespace tpack {
namespace {

struct ExpReplayParams {
  Slot<Environment> environment;
  int64_t environments = 1;
  Ref<LayerOutput> values;
  Scheduled exploration = 1;
  int64_t memory_size = 100'000;
  int64_t init_memory_size = 1'000;
  int64_t samples_per_step = 8;
  Ref<LayerOutput> priorities;
  double priority_exponent = 0.6;
  Scheduled importance = 0.4;
  bool save_memory = true;
};

/// Source of the numbers: Schaul et al. 2016, section 3.3.
constexpr double kMinPriority = 1e-6;

/// Acts by the values of actions, sometimes at random, and draws samples from its memory.
class ReplayAgent final : public Agent {
 public:
  ReplayAgent(const ExpReplayParams& p, uint64_t seed)
      : Agent(hyper_parameters_of(p)),
        p_(p),
        seed_(seed),
        group_(p.environment.item, p.environments, seed),
        memory_(p.memory_size, p.environments, group_.spec().observation),
        actions_(static_cast<size_t>(p.environments)) {
    if (!p_.priorities.empty()) priorities_.emplace(static_cast<size_t>(memory_.size()));
  }

  const EpisodeRecord& episodes() const override { return group_.episodes(); }
  void begin(BatchPredictor& predictor) override { predictor_ = &predictor; }
  void learn(const Tensor& feedback) override {
    if (drawn_.empty()) return;  // the step took a batch that it had already
    if (feedback.elements() != static_cast<int64_t>(drawn_.size()))
      throw ConfigError(p_.priorities.position, "'priorities' of source ExpReplay: output '" +
                                                    p_.priorities.name + "' is " + feedback.spec().str() +
                                                    " for " + std::to_string(drawn_.size()) +
                                                    " samples; it needs one number for each");
    for (size_t i = 0; i < drawn_.size(); ++i) {
      if (drawn_[i] < memory_.begin()) continue;  // overwritten since it was drawn
      const double error = std::abs(feedback.at(static_cast<int64_t>(i))) + kMinPriority;
      if (!std::isfinite(error)) continue;  // otherwise nothing else would be drawn
      const double priority = std::pow(error, p_.priority_exponent);
      priorities_->set(memory_.row(drawn_[i]), priority);
      largest_ = std::max(largest_, priority);
    }
    drawn_.clear();
  }
  void learn_nothing() override { drawn_.clear(); }

 protected:
  void give(Datapoint& out) override {
    while (memory_.added() < p_.init_memory_size || memory_.end() == 0) act();
    if (samples_left_ == 0) {
      act();
      samples_left_ = p_.samples_per_step * p_.environments;
    }
    --samples_left_;
    const int64_t step = draw();
    memory_.read(step, out);
    if (!priorities_) return;
    const double relative = priorities_->priority(memory_.row(step)) / priorities_->smallest();
    *out.renew(5, {DType::kFloat32, {}}).data<float>() =
        static_cast<float>(std::pow(relative, -hyper_parameter(kImportance)));
    drawn_.push_back(step);
  }

  State save_own() const override {
    State state;
    state.put("environments", group_.save());
    state.put("samples_left", samples_left_);
    state.put("acts", acts_);
    if (!p_.save_memory) return state;
    state.put("memory", memory_.save());
    if (!priorities_) return state;
    std::vector<double> priorities(static_cast<size_t>(std::min(memory_.added(), memory_.size())));
    for (size_t i = 0; i < priorities.size(); ++i) priorities[i] = priorities_->priority(i);
    state.put("priorities", Tensor::of({static_cast<int64_t>(priorities.size())}, priorities));
    state.put("largest_priority", largest_);
    return state;
  }
  void load_own(const State& state) override {
    group_.load(state.part("environments"));
    samples_left_ = state.get<int64_t>("samples_left");
    acts_ = state.get<int64_t>("acts");
    const State memory = state.part("memory");
    if (memory.empty()) return;  // it is filled again
    memory_.load(memory);
    if (!priorities_) return;
    const Tensor priorities = state.get<Tensor>("priorities");
    for (size_t i = 0; i < static_cast<size_t>(priorities.elements()); ++i)
      priorities_->set(i, priorities.data<double>()[i]);
    largest_ = state.get<double>("largest_priority");
  }

 private:
  enum : size_t { kExploration, kImportance };  // the second one with priorities only
  static std::vector<HyperParameter> hyper_parameters_of(const ExpReplayParams& p) {
    std::vector<HyperParameter> all = {{"exploration", p.exploration.number, p.exploration.schedule.object}};
    if (!p.priorities.empty())
      all.push_back({"importance", p.importance.number, p.importance.schedule.object});
    return all;
  }

  Rng rng(const char* purpose, int64_t number) const {
    return Rng(mix(seed_, stable_hash(purpose)), static_cast<uint64_t>(number));
  }

  /// One step in each environment.
  void act() {
    Rng numbers = rng("exploration", acts_++);
    const int32_t choices = group_.spec().actions;
    bool all_by_chance = true;
    for (int32_t& action : actions_) {
      const bool by_chance = numbers.uniform64() < hyper_parameter(kExploration);
      action = by_chance ? static_cast<int32_t>(numbers.below(static_cast<uint32_t>(choices))) : kByValue;
      all_by_chance = all_by_chance && by_chance;
    }
    if (!all_by_chance) choose_by_values();
    const int64_t before = memory_.end();
    const Tensor seen = group_.observations().clone();
    memory_.add(seen, actions_, group_.step(actions_));
    if (priorities_) prioritize(before);
  }

  void choose_by_values() {
    const Tensor values = predictor_->run(group_.observations())[0];
    for (size_t i = 0; i < actions_.size(); ++i) {
      if (actions_[i] != kByValue) continue;
      const auto row = values.row(static_cast<int64_t>(i)).span<float>();
      actions_[i] = static_cast<int32_t>(std::max_element(row.begin(), row.end()) - row.begin());
    }
  }

  /// Gives new steps with a known result a high priority; overwritten steps get none.
  void prioritize(int64_t end_before) {
    for (int64_t step = memory_.end(); step < memory_.added(); ++step) priorities_->set(memory_.row(step), 0);
    for (int64_t step = end_before; step < memory_.end(); ++step)
      priorities_->set(memory_.row(step), memory_.is_complete(step) ? largest_ : 0);
  }

  int64_t draw() const {
    Rng numbers = rng("replay", given());
    constexpr int kTries = 1000;
    for (int i = 0; i < kTries; ++i) {
      const auto place =
          priorities_ ? static_cast<int64_t>(priorities_->find(numbers.uniform64() * priorities_->total()))
                      : static_cast<int64_t>(numbers.uniform64() *
                                             static_cast<double>(memory_.end() - memory_.begin()));
      // Rows and steps are the same up to a rotation.
      const int64_t step = priorities_ ? step_at(place) : memory_.begin() + place;
      if (memory_.is_complete(step)) return step;
    }
    throw ConfigError(
        "source ExpReplay: nearly all remembered steps are last steps of episodes that were cut off; raise "
        "the limit of the environment");
  }
  /// The newest step at a row.
  int64_t step_at(int64_t row) const {
    const int64_t size = memory_.size();
    return row + (memory_.added() - 1 - row) / size * size;
  }

  static constexpr int32_t kByValue = -1;

  ExpReplayParams p_;
  uint64_t seed_;
  EnvironmentGroup group_;
  ReplayMemory memory_;
  std::optional<PriorityTree> priorities_;
  double largest_ = 1;          // largest priority so far, used for new steps
  std::vector<int64_t> drawn_;  // since the last `learn`; with priorities only
  int64_t samples_left_ = 0;    // until it acts
  int64_t acts_ = 0;
  std::vector<int32_t> actions_;
  BatchPredictor* predictor_ = nullptr;
};

/// Shapes: state and next_state: the environment's observation; action int32, reward, is_over, with
/// `priorities` also weight: float32 []. Source: tensorpack examples/DeepQNetwork/expreplay.py, ExpReplay;
/// Mnih et al. 2015, Human-level control through deep reinforcement learning; Schaul et al. 2016, Prioritized
/// Experience Replay.
class ExpReplay final : public AgentSource {
 public:
  using Params = ExpReplayParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Steps of an environment, drawn at random from a replay memory that the model fills by acting "
               "while it trains: `state`, `action`, `reward`, `is_over`, `next_state`.")
        .example("ExpReplay: {environment: Catch, values: q, memory_size: 10000, samples_per_step: 16}")
        .field("environment", &Params::environment, "environment that the model acts in")
        .required()
        .field("environments", &Params::environments, between(1, 4096),
               "number of copies that run in parallel, with one prediction for all of them")
        .field("values", &Params::values,
               "output of the model: for each state, the values of the actions; the action with the highest "
               "value is taken")
        .required()
        .field("exploration", &Params::exploration, between(0, 1),
               "probability of a random action; a hyper-parameter, so callbacks can lower it")
        .field("memory_size", &Params::memory_size, between(1, 1e9), "largest number of steps in the memory")
        .field("init_memory_size", &Params::init_memory_size, at_least(1),
               "steps to make before the first sample")
        .field("samples_per_step", &Params::samples_per_step, at_least(1),
               "samples drawn per step of the environment: with 16 and batches of 64, one training step per "
               "4 steps of the environment")
        .field(
            "priorities", &Params::priorities,
            "output of the model, such as TDError: samples with larger absolute values are drawn more often; "
            "adds the component `weight`, which corrects for it; default: all are drawn equally often")
        .field("priority_exponent", &Params::priority_exponent, between(0, 1),
               "the probability of a sample is its priority to this power; 0: the same for all")
        .field("importance", &Params::importance, between(0, 1),
               "how much `weight` corrects: 0 not at all, 1 fully; a hyper-parameter")
        .field("save_memory", &Params::save_memory,
               "save the memory in checkpoints; otherwise a resumed run fills it again and differs from an "
               "uninterrupted run");
  }
  explicit ExpReplay(Params p) : p_(std::move(p)) {
    environment_ = Registry<Environment>::make_item(p_.environment.item)->spec();
    if (p_.init_memory_size > p_.memory_size)
      throw ConfigError("source ExpReplay: 'init_memory_size' is " + std::to_string(p_.init_memory_size) +
                        ", more than 'memory_size' " + std::to_string(p_.memory_size));
    if (p_.memory_size < 2 * p_.environments)
      throw ConfigError("source ExpReplay: 'memory_size' must be at least twice 'environments'");
  }

  Spec spec() const override {
    std::vector<ComponentSpec> all = {{"state", environment_.observation},
                                      {"action", {DType::kInt32, {}}},
                                      {"reward", {DType::kFloat32, {}}},
                                      {"is_over", {DType::kFloat32, {}}},
                                      {"next_state", environment_.observation}};
    if (!p_.priorities.empty()) all.push_back({"weight", {DType::kFloat32, {}}});
    return Spec(std::move(all));
  }
  AgentModel model() const override {
    return {
        .outputs = {{p_.values, environment_.actions}}, .batch = p_.environments, .feedback = p_.priorities};
  }

 protected:
  std::unique_ptr<Agent> make_agent(uint64_t seed) const override {
    return std::make_unique<ReplayAgent>(p_, seed);
  }

 private:
  Params p_;
  EnvironmentSpec environment_;
};

TPACK_REGISTER(Source, ExpReplay, "ExpReplay");

}  // namespace
}  // namespace tpack
