#pragma once

#include <map>
#include <string>

#include "core/error.h"

namespace tpack {

/// The choice for one node. Stored as text, so that a plan can be read and edited by hand.
struct NodeChoice {
  std::string layout;     // "plain", "nhwc" or "nChw16c"; of the image operands
  std::string algorithm;  // "direct", "winograd", ...; "" if there is only one
  bool operator==(const NodeChoice&) const = default;
};

/// The choices of one program for one input signature, by node path.
struct PlanSection {
  /// The number of pieces of a kernel's work, if there is enough work; 0: the number of threads of the
  /// device. Results depend on it, not on the number of threads that compute the pieces.
  int pieces = 0;
  static constexpr int kMaxPieces = 64;
  bool chosen = false;  // false: `nodes` is not filled yet
  std::map<std::string, NodeChoice> nodes;
  bool operator==(const PlanSection&) const = default;
};

/// All choices that could make two runs of one config differ in the last bits: layout and algorithm of each
/// node, and how work is cut into pieces. Resume, all towers and all ranks use one plan. Written to the run
/// folder and into checkpoints.
struct Plan {
  std::string hardware;   // the hardware of these choices: Device::hardware() of the first section
  std::string precision;  // engine.precision of the run; empty in plans of versions that did not store it
  std::map<std::string, PlanSection> sections;  // "backward float32 [128, 28, 28, 1], int32 [128]"
  std::string source;                           // its file; empty if everything was chosen here
  std::string remedy;                           // of what does not fit, an error; "": it is planned again

  /// How the work of the sections is cut; 0 if there are no sections.
  int pieces() const { return sections.empty() ? 0 : sections.begin()->second.pieces; }
  std::string to_json() const;
  /// Accepts exactly the format of to_json. Errors: PlanError with `source` (such as a path) and the reason.
  static Plan from_json(const std::string& text, const std::string& source);
  /// Whether they have the same choices, regardless of their files.
  bool operator==(const Plan& other) const {
    return hardware == other.hardware && precision == other.precision && sections == other.sections;
  }
};

/// The end of a warning about a plan that cannot be used.
inline constexpr const char* kPlannedAgain = "; it is planned again, so the last bits of results may differ";

/// A plan that is invalid, or cannot be used here.
class PlanError : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

}  // namespace tpack
