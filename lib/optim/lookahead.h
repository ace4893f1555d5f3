#pragma once

#include <optional>

#include "core/field.h"
#include "graph/builder.h"

namespace tpack {

class OptimizerState;

/// Slow weights, which follow those of an optimizer. Source: Zhang et al. 2019, "Lookahead Optimizer: k steps
/// forward, 1 step back", Algorithm 1; slots of the optimizer stay as they are.
struct Lookahead {
  int64_t steps = 5;
  double alpha = 0.5;

  /// The parameters [n] after an update: `updated`, or after each `steps` updates the slow weights, s <- s +
  /// alpha * (updated - s). They begin as `before`, the parameters before the first update. Adds a slot
  /// "slow" and a number "lookahead_updates".
  Symbol after(Builder& b, OptimizerState& state, Symbol before, Symbol updated) const;
};

/// A section {steps: 5, alpha: 0.5}.
template <>
struct Codec<Lookahead> {
  static FieldType type();
  static std::optional<Lookahead> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const Lookahead& lookahead);
};

}  // namespace tpack
