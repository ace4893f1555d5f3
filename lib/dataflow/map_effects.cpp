#include "dataflow/map_effects.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "core/clock.h"
#include "core/digest.h"
#include "core/error.h"
#include "core/text.h"
#include "dataflow/batched_flow.h"
#include "dataflow/datapoint.h"
#include "dataflow/map.h"
#include "dataflow/moments.h"
#include "dataflow/source.h"

namespace tpack {
namespace {

/// The maps of a flow for single samples, starting at the source, and the part before them.
struct SampleMapsOfFlow {
  std::vector<const MapFlow*> maps;
  const Flow* base;
};

/// All stages of a flow, the first one first.
std::vector<const Flow*> stages_of(const Flow& flow) {
  std::vector<const Flow*> stages = {&flow};
  while (const auto* wrapped = dynamic_cast<const WrappedFlow*>(stages.back()))
    stages.push_back(&wrapped->up());
  std::reverse(stages.begin(), stages.end());
  return stages;
}

SampleMapsOfFlow sample_maps_of(const DataFlow& flow) {
  SampleMapsOfFlow found{{}, nullptr};
  for (const Flow* stage : stages_of(*flow.flow())) {
    if (dynamic_cast<const BatchedFlow*>(stage) != nullptr) break;
    const auto* map = dynamic_cast<const MapFlow*>(stage);
    if (map == nullptr) continue;
    if (found.maps.empty()) found.base = &map->up();
    found.maps.push_back(map);
  }
  if (found.base == nullptr) found.base = stages_of(*flow.flow()).front();
  return found;
}

/// False if the samples of a prepared flow come only once, from an agent or a pipe.
bool may_read(const Flow& flow) {
  const std::vector<const Source*> sources = flow.sources();
  return !sources.empty() && std::all_of(sources.begin(), sources.end(), [](const Source* one) {
    return dynamic_cast<const RandomAccessSource*>(one) != nullptr;
  });
}

/// A digest of a map's results for the first samples with a seed.
std::string digest_of(const MapFlow& map, uint64_t seed, int samples) {
  Digest digest;
  const auto cursor = map.up().open({});
  Datapoint d;
  for (int i = 0; i < samples && cursor->next(d); ++i) {
    digest.add(map.apply(seed, d) ? "kept" : "dropped");
    for (size_t k = 0; k < d.size(); ++k) {
      const Tensor& x = d.to_tensor(k);
      digest.add(std::string_view(reinterpret_cast<const char*>(x.raw()), x.bytes()));
    }
  }
  return digest.text();
}

bool draws(const MapFlow& map, bool is_batched, const Stopwatch& time) {
  constexpr uint64_t kSeeds = 7;  // even maps that rarely draw usually do so in one of them
  constexpr double kEnoughSeconds = 0.5;
  const int samples = is_batched ? 1 : 4;
  const std::string first = digest_of(map, 0, samples);
  for (uint64_t seed = 1; seed < kSeeds && time.seconds() < kEnoughSeconds; ++seed)
    if (digest_of(map, seed, samples) != first) return true;
  return false;
}

struct NumberRange {
  Moments moments;
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double x) {
    moments.add(x);
    low = std::min(low, x);
    high = std::max(high, x);
  }
  std::string str() const {
    const auto rounded = [](double x) { return short_text(std::round(x * 1000) / 1000); };
    return rounded(low) + " to " + rounded(high);
  }
};

/// Statistics of real numbers and images by component, after the maps; without dropped samples.
std::map<std::string, NumberRange> ranges_after(const std::vector<const MapFlow*>& maps, const Flow& base) {
  constexpr int kSamples = 8;
  const Spec& spec = maps.empty() ? base.spec() : maps.back()->spec();
  std::map<std::string, NumberRange> ranges;
  const auto cursor = base.open({});
  Datapoint d;
  for (int i = 0; i < kSamples && cursor->next(d); ++i) {
    const bool is_kept =
        std::all_of(maps.begin(), maps.end(), [&](const auto* map) { return map->apply_fixed(d); });
    for (size_t k = 0; is_kept && k < spec.size(); ++k) {
      if (!spec[k].is_image && !is_float(spec[k].tensor.dtype)) continue;
      const Tensor x = d.to_tensor(k).cast(DType::kFloat64);
      for (const double value : x.span<double>()) ranges[spec[k].name].add(value);
    }
  }
  return ranges;
}

/// Larger than differences by crops and sizes of the same images.
bool differ(const Moments& a, const Moments& b) {
  constexpr double kFactor = 3;
  constexpr double kDeviations = 2;
  const double most = std::max(a.deviation(), b.deviation());
  if (most == 0) return a.mean != b.mean;
  return most > kFactor * std::min(a.deviation(), b.deviation()) ||
         std::abs(a.mean - b.mean) > kDeviations * most;
}

}  // namespace

std::optional<std::string> random_map(const DataFlow& flow) { return random_map(*flow.flow()); }

std::optional<std::string> random_map(const Flow& flow) {
  if (!may_read(flow)) return std::nullopt;
  const Stopwatch time;
  bool is_batched = false;
  for (const Flow* stage : stages_of(flow)) {
    is_batched = is_batched || dynamic_cast<const BatchedFlow*>(stage) != nullptr;
    const auto* map = dynamic_cast<const MapFlow*>(stage);
    try {
      if (map != nullptr && draws(*map, is_batched, time))
        return map->context().position.str() + ": " + map->context().name;
    } catch (const DataError&) {
      return std::nullopt;  // a bad sample, which its reader reports
    } catch (const SampleError&) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<std::string> other_scale(const DataFlow& train, const DataFlow& flow) {
  if (!may_read(*train.flow()) || !may_read(*flow.flow())) return std::nullopt;
  const SampleMapsOfFlow theirs = sample_maps_of(train);
  const SampleMapsOfFlow own = sample_maps_of(flow);
  if (theirs.base->spec().str() != own.base->spec().str()) return std::nullopt;
  try {
    const auto expected = ranges_after(theirs.maps, *own.base);
    for (const auto& [component, range] : ranges_after(own.maps, *own.base)) {
      const auto other = expected.find(component);
      if (other != expected.end() && differ(range.moments, other->second.moments))
        return "its maps make '" + component + "' " + range.str() + ", but the maps of data.train make it " +
               other->second.str();
    }
  } catch (const Error&) {
    return std::nullopt;  // a bad sample, which its reader reports
  }
  return std::nullopt;
}

}  // namespace tpack
