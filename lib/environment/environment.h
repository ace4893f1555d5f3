#pragma once

#include <cstdint>
#include <vector>

#include "core/registry.h"
#include "core/rng.h"
#include "tensor/tensor.h"

namespace tpack {

/// What an environment shows, and what may be done in it.
struct EnvironmentSpec {
  TensorSpec observation;
  int32_t actions = 0;  // they are numbered from 0
};

/// Whether an episode goes on after a step.
enum class EpisodeEnd : uint8_t {
  kNone,
  kOver,   // nothing more could be gained
  kCutOff  // it would go on: only the limit of steps ended it
};

/// What a step gives.
struct StepOutcome {
  float reward = 0;
  EpisodeEnd end = EpisodeEnd::kNone;
};

/// What an agent acts in, for reinforcement learning: in each step it is shown an observation, chooses an
/// action and gets a reward. Everything that happens depends only on the state, the action and the random
/// numbers that come in as arguments, so an episode repeats. Threads: one at a time.
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
  /// One step. `action`: 0 <= action < spec().actions. After the end of an episode, `reset` comes first.
  virtual StepOutcome step(int32_t action, Rng& rng) = 0;
  /// Writes what is seen now. `out`: of the type and shape of spec().observation.
  virtual void observe(const Tensor& out) const = 0;
  /// All that the rest of the episode depends on, always as many numbers: `restore` goes on from there. Also
  /// before the first `reset`.
  virtual std::vector<double> state() const = 0;
  virtual void restore(const std::vector<double>& state) = 0;
};

}  // namespace tpack
