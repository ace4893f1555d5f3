#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dataflow/data_flow.h"

namespace tpack {

/// One component of an item of a flow.
struct InspectedValue {
  int64_t item = 0;
  std::string component;
  TensorSpec spec;
  double low = 0;
  double high = 0;
  double mean = 0;
};

/// The output of a flow, shown by `tpack data inspect`.
struct FlowInspection {
  std::string flow;
  Spec spec;
  std::optional<int64_t> size;  // items per pass; kEndless for an endless flow
  Seek seek = Seek::kExact;
  std::vector<InspectedValue> values;  // of the first items
  int64_t bad_samples = 0;             // met on the way, each logged as a warning

  /// Tables for people.
  std::string str() const;
  nlohmann::ordered_json to_json() const;
};

/// Reads the first `count` items of a flow. Errors: DataError.
FlowInspection inspect_flow(const std::string& name, const DataFlow& flow, uint64_t seed, int count);
/// The same for these samples of the flow before its batches.
FlowInspection inspect_samples(const std::string& name, const DataFlow& flow, const Spec& spec,
                               std::span<Datapoint> samples);

}  // namespace tpack
