#pragma once

#include <cstdint>
#include <string_view>

#include "core/rng.h"
#include "tensor/tensor.h"

namespace tpack {

/// Averages a value over the replicas of a program that runs on several at the same time.
class ReplicaAverage {
 public:
  virtual ~ReplicaAverage() = default;
  /// Replaces the elements by their mean over the replicas. All call it in the same order with the same
  /// shapes. Errors: DistributedError.
  virtual void mean(const Tensor& values) = 0;
};

/// The parameters of a step for its programs. Random draws depend on the first three, and on the path of the
/// node.
struct RunInfo {
  uint64_t seed = 0;
  int64_t step = 0;
  int64_t replica = 0;                 // or the number of the batch in its step; tower k is like rank k
  ReplicaAverage* replicas = nullptr;  // null: there is only this one
};

/// Key of a random node's draws in one step.
inline uint64_t random_key(const RunInfo& info, std::string_view node_path) {
  return mix(mix(info.seed, stable_hash(node_path)),
             mix(static_cast<uint64_t>(info.step), static_cast<uint64_t>(info.replica)));
}

}  // namespace tpack
