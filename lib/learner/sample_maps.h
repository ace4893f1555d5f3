#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dataflow/fitted_data.h"
#include "dataflow/flow_field.h"
#include "dataflow/map.h"

namespace tpack {

/// The list of components that a flow stands for.
ConfigNode components_of(const ConfigNode& flow, const FlowScope& flows);

/// What samples must have before the maps among the components of a flow, so that they have `wanted` after
/// them. Errors: ConfigError.
std::vector<std::string> needed_before_maps(const ConfigNode& components, std::vector<std::string> wanted);

/// The maps of a flow, for one sample at a time, without what is random: the result depends on the sample
/// alone. Maps are left out that only choose samples, or only make components that nobody wants.
class SampleMaps {
 public:
  SampleMaps() = default;
  /// Takes the maps among the components of a flow, for samples of `given`, which need `wanted` after them;
  /// fitted ones use `fit`. Errors: ConfigError.
  SampleMaps(const ConfigNode& components, Spec given, const FittedData& fit,
             std::vector<std::string> wanted);

  /// Of a sample behind the maps.
  const Spec& spec() const { return spec_; }
  /// Errors: DataError, also for a sample that a map drops; those of the image library.
  void apply(Datapoint& sample) const;

 private:
  Spec spec_;
  std::vector<std::pair<uint64_t, std::shared_ptr<Map>>> maps_;  // key of the random numbers, and the map
};

}  // namespace tpack
