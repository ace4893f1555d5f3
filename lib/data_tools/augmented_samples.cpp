#include "data_tools/augmented_samples.h"

#include <algorithm>

#include "core/error.h"
#include "data_tools/flow_scan.h"
#include "system/log.h"

namespace tpack {
namespace {

constexpr int64_t kMostLeftOut = 1000;  // largest number of samples to try

/// False if there are fewer samples.
bool read_stored(const Flow& source, const PassKey& pass, int64_t place, Datapoint& out) {
  if (source.access() != Access::kSequential) return place < source.places() && source.get(pass, place, out);
  const auto cursor = source.open(pass);
  return cursor->skip(place) == place && cursor->next(out);
}

}  // namespace

AugmentedSamples augmented_samples(const DataFlow& flow, int64_t samples, int64_t draws, uint64_t seed) {
  const FlowPtr source = stored_samples(flow);
  const std::vector<const MapFlow*> maps = maps_before_batches(flow);
  AugmentedSamples all;
  all.spec = maps.empty() ? source->spec() : maps.back()->spec();
  bool is_end = false;
  for (int64_t place = 0, shown = 0; shown < samples && !is_end && place - shown < kMostLeftOut; ++place) {
    const size_t before = all.draws.size();
    try {
      for (int64_t draw = 0; draw < draws && !is_end; ++draw) {
        Datapoint d;
        is_end = !read_stored(*source, {seed, 0, 0}, place, d);
        d.set_id({draw, d.id().index, 0});
        const bool is_kept = !is_end && std::all_of(maps.begin(), maps.end(),
                                                    [&](const MapFlow* map) { return map->apply(seed, d); });
        if (is_kept) all.draws.push_back(std::move(d));
      }
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kData) throw;
      log::warning(error.what());
      all.draws.resize(before);
    }
    if (all.draws.size() > before) ++shown;
  }
  return all;
}

}  // namespace tpack
