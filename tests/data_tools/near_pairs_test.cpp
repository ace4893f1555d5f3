#include "data_tools/near_pairs.h"

#include <bit>
#include <optional>

#include <gtest/gtest.h>

#include "core/rng.h"
#include "data_tools/perceptual_hash.h"

namespace tpack {
namespace {

/// What near_pairs says, by comparing all.
std::vector<NearPair> pairs_of_all(const std::vector<HashedSample>& samples) {
  std::vector<NearPair> pairs;
  for (size_t i = 0; i < samples.size(); ++i) {
    for (size_t flow = 0; flow <= samples[i].flow; ++flow) {
      std::optional<NearPair> best;
      for (size_t j = 0; j < i; ++j) {
        const int distance = std::popcount(samples[i].hash ^ samples[j].hash);
        if (samples[j].flow == flow && distance <= kNearBits && (!best || distance < best->distance))
          best = {i, j, distance};
      }
      if (best) pairs.push_back(*best);
    }
  }
  return pairs;
}

TEST(NearPairs, are_those_that_comparing_all_finds) {
  Rng rng(5);
  std::vector<HashedSample> samples;
  std::vector<uint64_t> seeds;
  for (int i = 0; i < 60; ++i) seeds.push_back(rng.next64());
  for (size_t i = 0; i < 900; ++i) {
    uint64_t hash = i % 3 == 0 ? rng.next64() : seeds[rng.below(60)];
    const int flips = rng.range(0, 8);
    for (int k = 0; k < flips; ++k) hash ^= uint64_t{1} << rng.below(64);
    samples.push_back({hash, i / 300});
  }
  const std::vector<NearPair> pairs = near_pairs(samples);
  EXPECT_GT(pairs.size(), 300U);
  EXPECT_EQ(pairs, pairs_of_all(samples));
}

TEST(NearPairs, of_many_equal_hashes_are_with_the_first) {
  std::vector<HashedSample> samples(200000, {0xF0F0, 0});
  samples.push_back({0xF0F1, 1});
  const std::vector<NearPair> pairs = near_pairs(samples);
  ASSERT_EQ(pairs.size(), 200000U);
  EXPECT_EQ(pairs[0], (NearPair{1, 0, 0}));
  EXPECT_EQ(pairs.back(), (NearPair{200000, 0, 1}));
}

TEST(NearPairs, of_nothing_are_none) { EXPECT_TRUE(near_pairs({}).empty()); }

}  // namespace
}  // namespace tpack
