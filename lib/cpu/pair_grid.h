#pragma once

#include <cstdint>

namespace tpack::cpu {

/// Indices begin..end-1.
struct Span {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
};

/// A matrix of sums of products of pairs (pair_products.h), in panels: 8 rows or 32 columns. Pieces have some
/// rows and some columns; each makes its own pairs.
class PairGrid {
 public:
  struct Part {
    Span rows;  // panels
    Span columns;
  };

  PairGrid() = default;
  /// Chooses how many pieces share the rows, and how many the columns. `products`: for each pair that is
  /// made.
  PairGrid(int64_t row_panels, int64_t column_panels, int64_t products, int pieces);

  int64_t row_panels() const { return row_panels_; }
  int64_t column_panels() const { return column_panels_; }
  int pieces() const { return row_pieces_ * column_pieces_; }
  Part part(int64_t piece) const;

 private:
  int64_t row_panels_ = 1;
  int64_t column_panels_ = 1;
  int row_pieces_ = 1;
  int column_pieces_ = 1;
};

}  // namespace tpack::cpu
