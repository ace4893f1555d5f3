#include "cpu/pair_grid.h"

#include <algorithm>
#include <limits>

#include "cpu/pair_products.h"

namespace tpack::cpu {

PairGrid::PairGrid(int64_t row_panels, int64_t column_panels, int64_t products, int pieces)
    : row_panels_(row_panels), column_panels_(column_panels) {
  constexpr int64_t kProductCycles = simd::kPairRows * simd::kPairVectors;
  constexpr int64_t kPairCycles = 8;  // of 16 pairs
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int rows = 1; rows <= std::min<int64_t>(pieces, row_panels); ++rows) {
    const auto columns = static_cast<int>(std::min<int64_t>(pieces / rows, column_panels));
    const int64_t row_share = (row_panels + rows - 1) / rows;
    const int64_t column_share = (column_panels + columns - 1) / columns;
    const int64_t cycles = row_share * column_share * products * kProductCycles +
                           ((row_share + 1) / 2 + column_share * simd::kPairVectors) * kPairCycles;
    if (cycles >= least) continue;
    least = cycles;
    row_pieces_ = rows;
    column_pieces_ = columns;
  }
}

PairGrid::Part PairGrid::part(int64_t piece) const {
  const auto share = [](int64_t count, int64_t number, int64_t pieces) {
    return Span{count * number / pieces, count * (number + 1) / pieces};
  };
  return {share(row_panels_, piece % row_pieces_, row_pieces_),
          share(column_panels_, piece / row_pieces_, column_pieces_)};
}

}  // namespace tpack::cpu
