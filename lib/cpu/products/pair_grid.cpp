#include "cpu/products/pair_grid.h"

#include <algorithm>
#include <limits>

#include "cpu/products/pair_products.h"

namespace tpack::cpu {

PairGrid::PairGrid(const PairWork& work, int pieces) : work_(work) {
  constexpr int64_t kPairCycles = 8;  // of 16 pairs
  constexpr int64_t kSumCycles = 4;   // of 16 sums that are added to others
  const int64_t block_vectors = simd::kPairRows * work.vectors;
  int64_t least = std::numeric_limits<int64_t>::max();
  const auto count_of = [](int64_t most, int64_t panels) {
    return std::max<int64_t>(1, std::min(most, panels));
  };
  for (int64_t rows = 1; rows <= count_of(pieces, work.row_panels); ++rows) {
    for (int64_t columns = 1; columns <= count_of(pieces / rows, work.column_panels); ++columns) {
      const int64_t steps = count_of(pieces / rows / columns, work.parts);
      const int64_t row_share = ceil_div(work.row_panels, rows);
      const int64_t column_share = ceil_div(work.column_panels, columns);
      const int64_t of_step = row_share * column_share * work.products * block_vectors +
                              (ceil_div(row_share, 2) + column_share * work.vectors) * kPairCycles;
      const int64_t sums = work.row_panels * work.column_panels * work.products * block_vectors;
      const int64_t adding = steps == 1 ? 0 : ceil_div(sums * steps * kSumCycles, rows * columns * steps);
      const int64_t cycles = ceil_div(work.steps, steps) * of_step + adding;
      if (cycles >= least) continue;
      least = cycles;
      row_pieces_ = static_cast<int>(rows);
      column_pieces_ = static_cast<int>(columns);
      step_pieces_ = static_cast<int>(steps);
    }
  }
}

PairGrid::Part PairGrid::part(int64_t piece) const {
  const int64_t row = piece % row_pieces_;
  const int64_t column = piece / row_pieces_ % column_pieces_;
  return {share_of(work_.row_panels, row, row_pieces_), share_of(work_.column_panels, column, column_pieces_),
          piece / row_pieces_ / column_pieces_};
}

}  // namespace tpack::cpu
