#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tpack {

/// What a sample looks like (perceptual_hash), and the number of its flow.
struct HashedSample {
  uint64_t hash = 0;
  size_t flow = 0;
};

/// Two samples whose hashes are alike.
struct NearPair {
  size_t sample = 0;
  size_t like = 0;   // the sample before it that is most like it, the first of several
  int distance = 0;  // bits that differ

  bool operator==(const NearPair&) const = default;
};

/// For each sample and each flow, the sample before it in that flow that is most like it, if at most
/// kNearBits differ; in the order of the samples, and of the flows. `samples` have the order of their flows.
/// The time grows with the number of pairs of hashes of which 15 of some 16 bits are equal, which is 1 in
/// 1000 of different pictures.
std::vector<NearPair> near_pairs(std::span<const HashedSample> samples);

}  // namespace tpack
