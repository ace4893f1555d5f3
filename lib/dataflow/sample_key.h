#pragma once

#include <cstdint>
#include <string>

#include "core/rng.h"

namespace tpack {

/// Identifies a pass over the data; the order of its samples depends on it.
struct PassKey {
  uint64_t seed = 0;
  int64_t pass = 0;    // passes over the data, from 0
  int64_t repeat = 0;  // repetition inside the pass (RepeatedData), from 0

  /// Key for choices of one stage for the whole pass, such as its permutation.
  uint64_t key(uint64_t stage) const;
};

/// Identifies the source sample of a datapoint. Shuffling, dropping and repeating do not change it.
struct SampleId {
  int64_t pass = 0;
  int64_t index = 0;  // in the source
  int64_t repeat = 0;

  /// "sample 17 of pass 0".
  std::string str() const;
  bool operator==(const SampleId&) const = default;
};

/// The key of the random numbers of one sample in one stage: independent of the worker and of the position in
/// the stream. `stage` is stable_hash of the stage's name.
struct SampleKey {
  uint64_t seed = 0;
  SampleId id;
  uint64_t stage = 0;
  bool draws = true;  // false: no randomness, for predictions

  /// Numbers for one `part` of the stage (an augmentor of a list); parts are independent.
  Rng rng(uint64_t part = 0) const;
};

}  // namespace tpack
