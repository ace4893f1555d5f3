#pragma once

#include <cstdint>

namespace tpack::cpu {

/// Indices begin..end-1.
struct PairRange {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
};

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Part `number` of 0..count-1 in `parts` equal parts.
inline PairRange share_of(int64_t count, int64_t number, int64_t parts) {
  return {count * number / parts, count * (number + 1) / parts};
}

/// What a matrix of sums of products of pairs (pair_products.h) takes. Panels are 8 rows or 32 columns.
struct PairWork {
  int64_t row_panels = 1;
  int64_t column_panels = 1;
  int vectors = 2;       // of a panel of columns
  int64_t products = 1;  // that each pair takes part in, in a panel
  int64_t steps = 1;     // that are summed
  int64_t parts = 1;     // of the steps, at most; pieces that share a block have sums of their own
};

/// Cuts it into pieces. Each makes the pairs of its rows and columns itself.
class PairGrid {
 public:
  struct Part {
    PairRange rows;  // panels
    PairRange columns;
    int64_t of_steps = 0;  // which part of the steps
  };

  PairGrid() = default;
  PairGrid(const PairWork& work, int pieces);

  int64_t row_panels() const { return work_.row_panels; }
  int64_t column_panels() const { return work_.column_panels; }
  int pieces() const { return row_pieces_ * column_pieces_ * step_pieces_; }
  int step_pieces() const { return step_pieces_; }
  Part part(int64_t piece) const;

 private:
  PairWork work_;
  int row_pieces_ = 1;
  int column_pieces_ = 1;
  int step_pieces_ = 1;
};

}  // namespace tpack::cpu
