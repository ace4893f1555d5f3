#pragma once

#include <map>
#include <string>

namespace tpack {

/// What was chosen for one node. Texts, so that a plan can be read and written by hand.
struct NodeChoice {
  std::string layout;     // "plain", "nhwc" or "nChw16c"; of the image operands
  std::string algorithm;  // "direct", "winograd", ...; "" where there is one only
  bool operator==(const NodeChoice&) const = default;
};

/// The choices of one program for one input signature, by node path.
struct PlanSection {
  int threads = 0;  // a plan is for one thread count
  std::map<std::string, NodeChoice> nodes;
  bool operator==(const PlanSection&) const = default;
};

/// Everything that could make two runs of one config differ in the last bits: layout, algorithm and thread
/// count of each node. Resume, all towers and all ranks use one plan. Written to the run folder and into
/// checkpoints.
struct Plan {
  std::string cpu;  // whose choices these are: Device::hardware() of the first section
  std::map<std::string, PlanSection> sections;  // "backward float32 [128, 28, 28, 1], int32 [128]"

  std::string to_json() const;
  /// Errors: ConfigError with `source` (a path, say) and what is wrong.
  static Plan from_json(const std::string& text, const std::string& source);
  bool operator==(const Plan&) const = default;
};

}  // namespace tpack
