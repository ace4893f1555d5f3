#pragma once

#include <memory>
#include <span>
#include <vector>

#include "environment/environment.h"
#include "environment/episode_record.h"

namespace tpack {

/// Environments of one kind that are stepped side by side, so that one prediction chooses the actions of all.
/// An episode that ends is followed by the next one at once. The random numbers of an environment depend on
/// the seed, its number in the group, the episode and the step. Threads: one at a time.
///
///   EnvironmentGroup group(config, 8, seed);
///   while (...) group.step(actions_for(group.observations()));
class EnvironmentGroup {
 public:
  /// `item`: an environment as a config writes it. Begins the first episode of each. Errors: ConfigError with
  /// all mistakes of the item.
  EnvironmentGroup(const ConfigNode& item, int64_t count, uint64_t seed);

  const EnvironmentSpec& spec() const { return spec_; }
  int64_t size() const { return static_cast<int64_t>(environments_.size()); }
  /// What the next actions are chosen from. Shape: [size, observation...]. Valid until the next step.
  const Tensor& observations() const { return observations_; }
  /// What the last step led to: `observations()`, but those of episodes that ended as they ended.
  const Tensor& outcomes() const { return outcomes_; }
  /// One step in each environment; the results, valid until the next one. Errors: InternalError for an action
  /// that there is not.
  std::span<const StepOutcome> step(std::span<const int32_t> actions);
  const EpisodeRecord& episodes() const { return episodes_; }

  /// Everything: the next steps are the same after `load`. Errors: CheckpointError for a group of another
  /// size.
  State save() const;
  void load(const State& state);

 private:
  struct Episode {
    int64_t number = 0;
    int64_t steps = 0;
    double reward = 0;  // so far
  };
  Rng rng(size_t environment) const;
  void begin_episode(size_t environment);

  std::vector<std::unique_ptr<Environment>> environments_;
  std::vector<Episode> running_;
  EnvironmentSpec spec_;
  uint64_t seed_;
  Tensor observations_;
  Tensor outcomes_;
  std::vector<StepOutcome> steps_;
  EpisodeRecord episodes_;
};

}  // namespace tpack
