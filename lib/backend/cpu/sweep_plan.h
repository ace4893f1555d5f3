#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "backend/cpu/format.h"
#include "backend/passes/fused_ops.h"

namespace tpack::cpu {

/// Steps through memory, in elements, for each axis of a sweep; 0 where an operand is broadcast.
using Steps = std::array<int64_t, Shape::kMaxRank + 1>;

/// How a sweep walks over memory: the axes of its shape in the order in which they lie in memory, neighbours
/// merged where all operands allow it. The last axis is the inner one.
struct SweepPlan {
  std::vector<int64_t> sizes;     // at least two axes
  std::vector<Steps> inputs;      // of each input
  std::vector<Steps> reductions;  // of each reduction's result
  std::vector<int64_t>
      input_copy;            // channels of per-channel inputs that must be padded first, 0 for the others
  int64_t padded_lanes = 0;  // real lanes in the last block of channels; 0: no padding
  int64_t padded_step = 0;   // which values of axis `padded_axis` are the last block
  int padded_axis = -1;

  int64_t rows() const { return sizes[sizes.size() - 2]; }
  int64_t columns() const { return sizes.back(); }
  int64_t outer() const;  // product of the axes before the last two
};

/// Format of an operand in a sweep over images: images lie in the node's layout, vectors along one axis are
/// plain.
Format sweep_format(const TensorSpec& spec, Layout layout);

SweepPlan plan_sweep(const Sweep& sweep, const Node& node, Layout layout);

}  // namespace tpack::cpu
