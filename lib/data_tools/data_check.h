#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "data_tools/flow_scan.h"
#include "data_tools/near_pairs.h"

namespace tpack {

/// A sample of one of several flows.
struct SampleOfFlow {
  size_t flow = 0;
  size_t place = 0;  // in FlowScan::samples

  auto operator<=>(const SampleOfFlow&) const = default;
};

/// Samples with the same content, in the order of the flows.
struct SameSamples {
  std::vector<SampleOfFlow> samples;
  bool has_conflict = false;  // their classes, masks or targets differ
  bool is_leak = false;       // they belong to several flows
};

/// Two samples that look alike, and are not the same.
struct LikeSamples {
  SampleOfFlow sample;
  SampleOfFlow like;  // before it
  int distance = 0;   // bits of their perceptual hashes

  bool is_leak() const { return sample.flow != like.flow; }
};

/// Problems with the samples of flows, shown by `tpack data check`.
struct DataCheck {
  std::vector<FlowScan> flows;
  std::vector<SameSamples> same;
  std::vector<LikeSamples> like;

  /// Tables for people.
  std::string str() const;
  nlohmann::ordered_json to_json() const;
  /// A sentence on problems that must be fixed before training (unreadable samples, images in several flows);
  /// else empty. Equal rows of a table may be different things.
  std::string failure() const;
};

/// Compares the samples of flows, with the training data first.
DataCheck compare_samples(std::vector<FlowScan> flows);

}  // namespace tpack
