#include "environment/environment_group.h"

namespace tpack {

EnvironmentGroup::EnvironmentGroup(const ConfigNode& item, int64_t count, uint64_t seed)
    : running_(static_cast<size_t>(count)), seed_(seed), steps_(static_cast<size_t>(count)) {
  for (int64_t i = 0; i < count; ++i) environments_.push_back(Registry<Environment>::make_item(item));
  spec_ = environments_[0]->spec();
  const TensorSpec all = {spec_.observation.dtype, spec_.observation.shape.prepend(count)};
  observations_ = Tensor::zeros(all);
  outcomes_ = Tensor::zeros(all);
  for (size_t i = 0; i < environments_.size(); ++i) begin_episode(i);
}

Rng EnvironmentGroup::rng(size_t environment) const {
  const Episode& episode = running_[environment];
  const uint64_t key = mix(mix(seed_, stable_hash("environment")), environment);
  return Rng(key, mix(static_cast<uint64_t>(episode.number), static_cast<uint64_t>(episode.steps)));
}

void EnvironmentGroup::begin_episode(size_t environment) {
  Rng numbers = rng(environment);
  environments_[environment]->reset(numbers);
  environments_[environment]->observe(observations_.row(static_cast<int64_t>(environment)));
}

std::span<const StepOutcome> EnvironmentGroup::step(std::span<const int32_t> actions) {
  TPACK_ASSERT(actions.size() == environments_.size(), "one action for each environment");
  for (size_t i = 0; i < environments_.size(); ++i) {
    TPACK_ASSERT(actions[i] >= 0 && actions[i] < spec_.actions, "an action that there is not");
    Episode& episode = running_[i];
    ++episode.steps;
    Rng numbers = rng(i);
    steps_[i] = environments_[i]->step(actions[i], numbers);
    episode.reward += static_cast<double>(steps_[i].reward);
    environments_[i]->observe(outcomes_.row(static_cast<int64_t>(i)));
    if (steps_[i].end == EpisodeEnd::kNone) {
      environments_[i]->observe(observations_.row(static_cast<int64_t>(i)));
    } else {
      episodes_.add(episode.reward, episode.steps);
      episode = {.number = episode.number + 1};
      begin_episode(i);
    }
  }
  return steps_;
}

State EnvironmentGroup::save() const {
  State state;
  state.put("size", size());
  for (size_t i = 0; i < environments_.size(); ++i) {
    State one;
    one.put("state", environments_[i]->state());
    one.put("episode", running_[i].number);
    one.put("steps", running_[i].steps);
    one.put("reward", running_[i].reward);
    state.put(std::to_string(i), one);
  }
  state.put("episodes", episodes_.save());
  return state;
}

void EnvironmentGroup::load(const State& state) {
  if (state.get<int64_t>("size") != size())
    throw CheckpointError("environments", "the checkpoint has " + std::to_string(state.get<int64_t>("size")) +
                                              ", this run has " + std::to_string(size()));
  for (size_t i = 0; i < environments_.size(); ++i) {
    const State one = state.part(std::to_string(i));
    environments_[i]->restore(one.get<std::vector<double>>("state"));
    running_[i] = {one.get<int64_t>("episode"), one.get<int64_t>("steps"), one.get<double>("reward")};
    environments_[i]->observe(observations_.row(static_cast<int64_t>(i)));
  }
  episodes_.load(state.part("episodes"));
}

}  // namespace tpack
