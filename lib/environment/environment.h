#pragma once

#include <cstdint>
#include <vector>

#include "core/registry.h"
#include "core/rng.h"
#include "tensor/tensor.h"

namespace tpack {

/// The observation and the actions of an environment.
struct EnvironmentSpec {
  TensorSpec observation;
  int32_t actions = 0;  // numbered from 0
};

/// Whether and how an episode ended with a step.
enum class EpisodeEnd : uint8_t {
  kNone,
  kOver,   // no more rewards are possible
  kCutOff  // only the limit of steps ended it
};

/// The result of a step.
struct StepOutcome {
  float reward = 0;
  EpisodeEnd end = EpisodeEnd::kNone;
};

/// An environment for reinforcement learning: in each step, the agent sees an observation, chooses an action
/// and gets a reward. Everything depends only on the state, the action and the random numbers passed as
/// arguments, so episodes are reproducible. Threads: one at a time.
///
///   environment.reset(rng);
///   do { environment.observe(seen); outcome = environment.step(choose(seen), rng); }
///   while (outcome.end == EpisodeEnd::kNone);
class Environment {
 public:
  static constexpr const char* kKind = "environment";
  virtual ~Environment() = default;

  virtual EnvironmentSpec spec() const = 0;
  /// Begins an episode.
  virtual void reset(Rng& rng) = 0;
  /// One step. `action`: 0 <= action < spec().actions. After the end of an episode, call `reset` first.
  virtual StepOutcome step(int32_t action, Rng& rng) = 0;
  /// Writes the current observation. `out`: type and shape of spec().observation.
  virtual void observe(const Tensor& out) const = 0;
  /// The complete state of the episode, always the same number of values; `restore` continues from it. Also
  /// before the first `reset`.
  virtual std::vector<double> state() const = 0;
  virtual void restore(const std::vector<double>& state) = 0;
};

}  // namespace tpack
