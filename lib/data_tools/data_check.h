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
  bool has_conflict = false;  // of their classes, masks or targets
  bool is_leak = false;       // they are of several flows
};

/// Two samples that look alike, and are not the same.
struct LikeSamples {
  SampleOfFlow sample;
  SampleOfFlow like;  // before it
  int distance = 0;   // bits of their perceptual hashes

  bool is_leak() const { return sample.flow != like.flow; }
};

/// What is wrong with the samples of flows, as `tpack data check` shows it.
struct DataCheck {
  std::vector<FlowScan> flows;
  std::vector<SameSamples> same;
  std::vector<LikeSamples> like;

  /// Tables for people.
  std::string str() const;
  nlohmann::ordered_json to_json() const;
  /// What training must not go on with, a sentence; empty if there is nothing: samples that cannot be read,
  /// and images that are in several flows. Equal rows of a table may be different things.
  std::string failure() const;
};

/// Compares the samples of flows, that of the training data first.
DataCheck compare_samples(std::vector<FlowScan> flows);

}  // namespace tpack
