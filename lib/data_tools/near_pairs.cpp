#include "data_tools/near_pairs.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <unordered_map>

#include "data_tools/perceptual_hash.h"

namespace tpack {
namespace {

constexpr size_t kNone = std::numeric_limits<size_t>::max();
constexpr int kBands = 4;
constexpr int kBandBits = 16;
// If at most kNearBits bits differ, at most one differs in some band.
static_assert(kNearBits < 2 * kBands);

size_t band_of(uint64_t hash, int band) {
  return (hash >> static_cast<unsigned>(band * kBandBits)) & 0xFFFFU;
}

/// The different hashes among the samples.
struct DifferentHashes {
  std::vector<uint64_t> hashes;             // in the order in which they come
  std::vector<size_t> of_sample;            // places in `hashes`
  std::vector<std::vector<size_t>> firsts;  // of each hash, by flow: its first sample, or kNone

  explicit DifferentHashes(std::span<const HashedSample> samples) {
    const size_t flows = samples.empty() ? 0 : samples.back().flow + 1;
    std::unordered_map<uint64_t, size_t> known;
    for (size_t i = 0; i < samples.size(); ++i) {
      const auto [found, is_new] = known.emplace(samples[i].hash, hashes.size());
      if (is_new) {
        hashes.push_back(samples[i].hash);
        firsts.emplace_back(flows, kNone);
      }
      size_t& first = firsts[found->second][samples[i].flow];
      first = std::min(first, i);
      of_sample.push_back(found->second);
    }
  }
};

/// The indices of hashes by the value of one of their bands.
class Band {
 public:
  Band(const std::vector<uint64_t>& hashes, int band) : begins_((size_t{1} << kBandBits) + 1) {
    for (const uint64_t hash : hashes) ++begins_[band_of(hash, band) + 1];
    for (size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
    places_.resize(hashes.size());
    std::vector<size_t> next = begins_;
    for (size_t i = 0; i < hashes.size(); ++i) places_[next[band_of(hashes[i], band)]++] = i;
  }
  std::span<const size_t> places(size_t value) const {
    return std::span(places_).subspan(begins_[value], begins_[value + 1] - begins_[value]);
  }

 private:
  std::vector<size_t> begins_;
  std::vector<size_t> places_;
};

struct Neighbor {
  size_t place = 0;
  int distance = 0;
};

/// The candidates for a hash, including itself; each once.
std::vector<Neighbor> neighbors_of(uint64_t hash, const std::vector<uint64_t>& hashes,
                                   const std::vector<Band>& bands) {
  std::vector<Neighbor> all;
  const auto add = [&](int band, size_t value) {
    for (const size_t place : bands[static_cast<size_t>(band)].places(value)) {
      const int distance = std::popcount(hash ^ hashes[place]);
      if (distance <= kNearBits) all.push_back({place, distance});
    }
  };
  for (int band = 0; band < kBands; ++band) {
    const size_t value = band_of(hash, band);
    add(band, value);
    for (unsigned bit = 0; bit < kBandBits; ++bit) add(band, value ^ (size_t{1} << bit));
  }
  std::sort(all.begin(), all.end(), [](const Neighbor& a, const Neighbor& b) { return a.place < b.place; });
  const auto rest = std::unique(all.begin(), all.end(),
                                [](const Neighbor& a, const Neighbor& b) { return a.place == b.place; });
  all.erase(rest, all.end());
  return all;
}

}  // namespace

std::vector<NearPair> near_pairs(std::span<const HashedSample> samples) {
  const DifferentHashes different(samples);
  std::vector<Band> bands;
  for (int band = 0; band < kBands; ++band) bands.emplace_back(different.hashes, band);
  std::vector<std::vector<size_t>> samples_of(different.hashes.size());
  for (size_t i = 0; i < samples.size(); ++i) samples_of[different.of_sample[i]].push_back(i);
  std::vector<NearPair> pairs;
  for (size_t place = 0; place < different.hashes.size(); ++place) {
    const auto neighbors = neighbors_of(different.hashes[place], different.hashes, bands);
    for (const size_t sample : samples_of[place]) {
      for (size_t flow = 0; flow <= samples[sample].flow; ++flow) {
        std::optional<NearPair> best;
        for (const Neighbor& neighbor : neighbors) {
          const size_t first = different.firsts[neighbor.place][flow];
          if (first >= sample) continue;  // or there is none
          const NearPair pair{sample, first, neighbor.distance};
          if (!best || std::pair(pair.distance, pair.like) < std::pair(best->distance, best->like))
            best = pair;
        }
        if (best) pairs.push_back(*best);
      }
    }
  }
  std::sort(pairs.begin(), pairs.end(), [](const NearPair& a, const NearPair& b) {
    return std::pair(a.sample, a.like) < std::pair(b.sample, b.like);
  });
  return pairs;
}

}  // namespace tpack
