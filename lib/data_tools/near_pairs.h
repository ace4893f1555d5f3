#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tpack {

/// The perceptual hash of a sample, and the number of its flow.
struct HashedSample {
  uint64_t hash = 0;
  size_t flow = 0;
};

/// Two samples with similar hashes.
struct NearPair {
  size_t sample = 0;
  size_t like = 0;   // the most similar earlier sample, the first of several
  int distance = 0;  // bits that differ

  bool operator==(const NearPair&) const = default;
};

/// For each sample and each flow, the most similar earlier sample of that flow, if at most kNearBits bits
/// differ; in the order of the samples, and of the flows. `samples` are in the order of their flows. The time
/// grows with the number of pairs of hashes where 15 of some 16 bits are equal, 1 in 1000 for different
/// pictures.
std::vector<NearPair> near_pairs(std::span<const HashedSample> samples);

}  // namespace tpack
