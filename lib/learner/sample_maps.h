#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dataflow/fitted_data.h"
#include "dataflow/flow_field.h"
#include "dataflow/map.h"

namespace tpack {

/// The list of components of a flow.
ConfigNode components_of(const ConfigNode& flow, const FlowScope& flows);

/// The components that samples must have before the maps of a flow, to have `wanted` after them. Errors:
/// ConfigError.
std::vector<std::string> needed_before_maps(const ConfigNode& components, std::vector<std::string> wanted);

/// The maps of a flow, for one sample at a time, without randomness: the result depends only on the sample.
/// Maps that only choose samples, or only make unneeded components, are skipped.
class SampleMaps {
 public:
  SampleMaps() = default;
  /// Uses the maps among the components of a flow, for samples of `given`, which need `wanted` after them;
  /// fitted maps use `fit`. Errors: ConfigError.
  SampleMaps(const ConfigNode& components, Spec given, const FittedData& fit,
             std::vector<std::string> wanted);

  /// The form of a sample after the maps.
  const Spec& spec() const { return spec_; }
  /// Errors: DataError, also for dropped samples; those of the image library.
  void apply(Datapoint& sample) const;

 private:
  Spec spec_;
  std::vector<std::pair<uint64_t, std::shared_ptr<Map>>> maps_;  // key of the random numbers, and the map
};

}  // namespace tpack
