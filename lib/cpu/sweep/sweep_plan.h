#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "backend/passes/fused_ops.h"
#include "cpu/onednn/onednn_format.h"

namespace tpack::cpu {

/// Steps through memory, in elements, for each axis of a sweep; 0 if an operand is broadcast.
using Steps = std::array<int64_t, Shape::kMaxRank + 1>;

/// A part of a sweep that is processed at once: whole rows, or a part of one row.
struct SweepTile {
  int64_t outer = 0;
  int64_t row = 0;
  int64_t rows = 1;
  int64_t column = 0;
  int64_t columns = 1;
  int64_t elements() const { return rows * columns; }
};

/// How a sweep walks over memory: the axes of its shape in memory order, with neighbors merged where all
/// operands allow it. The last axis is the inner one.
struct SweepPlan {
  std::vector<int64_t> sizes;     // at least two axes
  std::vector<Steps> inputs;      // of each input
  std::vector<Steps> reductions;  // of each reduction's result
  std::vector<int64_t>
      input_copy;            // channels of per-channel inputs that must be padded first, 0 for the others
  int64_t padded_lanes = 0;  // real lanes in the last block of channels; 0: no padding
  int64_t padded_step = 0;   // which values of axis `padded_axis` are the last block
  int padded_axis = -1;
  int64_t tile_rows = 1;
  int64_t tile_columns = 1;

  int64_t rows() const { return sizes[sizes.size() - 2]; }
  int64_t columns() const { return sizes.back(); }
  int64_t outer() const;  // product of the axes before the last two

  /// Cuts the walk into tiles of about `elements`.
  void cut(int64_t elements);
  int64_t tiles() const { return outer() * row_tiles() * column_tiles(); }
  SweepTile tile(int64_t index) const;
  /// Elements of the largest tile, rounded up to whole vectors.
  int64_t tile_room() const { return (tile_rows * tile_columns + 15) / 16 * 16; }

  /// Offset of a tile's first element for an operand with these steps, and for a result.
  int64_t offset(const Steps& steps, const SweepTile& tile) const;
  int64_t offset(const SweepTile& tile) const {
    return (tile.outer * rows() + tile.row) * columns() + tile.column;
  }
  /// True if the tile has lanes after the last channel.
  bool in_padding(const SweepTile& tile) const;

 private:
  int64_t row_tiles() const { return (rows() + tile_rows - 1) / tile_rows; }
  int64_t column_tiles() const { return (columns() + tile_columns - 1) / tile_columns; }
};

/// Format of an operand in a sweep over images: images have the node's layout, vectors along one axis are
/// plain.
Format sweep_format(const TensorSpec& spec, Layout layout);

/// True if a sweep over images can walk blocks of 16 channels: every operand has all of its channels or
/// lies along one axis, and no maximum is taken over lanes that may be padding.
bool fits_blocks(const Sweep& sweep, const Node& node);

SweepPlan plan_sweep(const Sweep& sweep, const Node& node, Layout layout);

}  // namespace tpack::cpu
