#pragma once

#include <string_view>

#include "graph/builder.h"

namespace tpack::nn {

struct TableInputOptions {
  int64_t width = 12;        // numbers that each column becomes, besides itself
  int64_t frequencies = 24;  // of each column
  double deviation = 0.5;    // of the first frequencies, in periods
};

/// Each column of a table, and `width` numbers that it becomes: ReLU(W [sin(2 pi c x), cos(2 pi c x)] + b),
/// with frequencies c of the column's own, and W and b for all of them. A step or a bump of a column is then
/// near to linear, which networks otherwise learn slowly. Columns should be near -1 to 1. Its variables are
/// frequencies [columns, frequencies], W [2 frequencies, width] and b [width] of the scope that is open.
/// Shapes: x [N, columns] -> y [N, columns (1 + width)]: the columns, then the numbers of the first one, ...
/// Errors: ShapeError if x has other axes, or a size is below 1. Source: Gorishniy et al. 2022, "On
/// Embeddings for Numerical Features in Tabular Deep Learning"; W for all columns: their PLR(lite).
Symbol table_input(Builder& b, Symbol x, const TableInputOptions& options);
/// The same in a scope of this name.
inline Symbol table_input(Builder& b, Symbol x, std::string_view name, const TableInputOptions& options) {
  const Builder::NameScope scope(b, name);
  return table_input(b, x, options);
}

}  // namespace tpack::nn
