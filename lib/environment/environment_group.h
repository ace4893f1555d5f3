#pragma once

#include <memory>
#include <span>
#include <vector>

#include "environment/environment.h"
#include "environment/episode_record.h"

namespace tpack {

/// Environments of one kind that run in parallel, so that one prediction chooses the actions of all. When an
/// episode ends, the next one starts at once. The random numbers of an environment depend on the seed, its
/// number in the group, the episode and the step. Threads: one at a time.
///
///   EnvironmentGroup group(config, 8, seed);
///   while (...) group.step(actions_for(group.observations()));
class EnvironmentGroup {
 public:
  /// `item`: an environment of a config. Begins the first episode of each. Errors: ConfigError with all
  /// mistakes of the item.
  EnvironmentGroup(const ConfigNode& item, int64_t count, uint64_t seed);

  const EnvironmentSpec& spec() const { return spec_; }
  int64_t size() const { return static_cast<int64_t>(environments_.size()); }
  /// The observations for choosing the next actions. Shape: [size, observation...]. Valid until the next
  /// step.
  const Tensor& observations() const { return observations_; }
  /// The observations after the last step: `observations()`, but with the last observation of episodes that
  /// ended.
  const Tensor& outcomes() const { return outcomes_; }
  /// One step in each environment; the results are valid until the next step. Errors: InternalError for an
  /// invalid action.
  std::span<const StepOutcome> step(std::span<const int32_t> actions);
  const EpisodeRecord& episodes() const { return episodes_; }

  /// The complete state: the next steps are the same after `load`. Errors: CheckpointError for a group of
  /// another size.
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
