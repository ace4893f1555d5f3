#pragma once

#include <span>

#include "dataflow/datapoint.h"
#include "environment/environment.h"
#include "tensor/state.h"

namespace tpack {

/// The last steps of several environments that run in parallel, for repeated learning. Steps are numbered
/// from 0; the environments take turns, so step s + environments follows step s. The state after a step is
/// the state before the next one, so it is not stored. Threads: one at a time.
class ReplayMemory {
 public:
  /// `size`: steps that it keeps, rounded up to a multiple of `environments`. Allocates all of it.
  ReplayMemory(int64_t size, int64_t environments, const TensorSpec& observation);

  /// Adds one step of each environment: observation, action, reward.
  void add(const Tensor& observations, std::span<const int32_t> actions,
           std::span<const StepOutcome> outcomes);
  int64_t added() const { return added_; }
  /// Readable steps: [begin, end). The newest step of each environment is not readable, because its next
  /// state comes with the next step.
  int64_t begin() const { return std::max<int64_t>(0, added_ - size_); }
  int64_t end() const { return std::max<int64_t>(0, added_ - environments_); }
  /// False for a step whose episode was cut off: its next state is unknown.
  bool is_complete(int64_t step) const { return ends()[row(step)] != EpisodeEnd::kCutOff; }
  /// Largest number of steps.
  int64_t size() const { return size_; }
  /// Place of a step among `size()`.
  size_t row(int64_t step) const { return static_cast<size_t>(step % size_); }
  /// Fills the components 0 to 4 of `out`: state, action, reward, is_over (1 or 0), next_state. After the end
  /// of an episode, next_state has no meaning.
  void read(int64_t step, Datapoint& out) const;

  /// Shares its memory with the state.
  State save() const;
  void load(const State& state);

 private:
  std::span<EpisodeEnd> ends() const;
  int64_t filled() const { return std::min(added_, size_); }

  int64_t size_;
  int64_t environments_;
  TensorSpec observation_;
  Tensor observations_;  // [size, ...]
  Tensor actions_;       // int32 [size]
  Tensor rewards_;       // float32 [size]
  Tensor ends_;          // uint8 [size], EpisodeEnd
  int64_t added_ = 0;
};

}  // namespace tpack
