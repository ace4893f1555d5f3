#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dataflow/fitted_data.h"
#include "dataflow/flow_field.h"
#include "dataflow/map.h"

namespace tpack {

/// The list of components that a flow stands for.
ConfigNode components_of(const ConfigNode& flow, const FlowScope& flows);

/// The maps of a flow, for one sample at a time, without what is random: the result depends on the sample
/// alone.
class SampleMaps {
 public:
  SampleMaps() = default;
  /// Takes the maps among the components of a flow, for samples of `given`; fitted ones use `fit`. Errors:
  /// ConfigError.
  SampleMaps(const ConfigNode& components, Spec given, const FittedData& fit);

  /// Of a sample behind the maps.
  const Spec& spec() const { return spec_; }
  /// Errors: DataError, also for a sample that a map drops; those of the image library.
  void apply(Datapoint& sample) const;

 private:
  Spec spec_;
  std::vector<std::pair<uint64_t, std::shared_ptr<Map>>> maps_;  // key of the random numbers, and the map
};

}  // namespace tpack
