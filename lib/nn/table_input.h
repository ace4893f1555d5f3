#pragma once

#include <string_view>

#include "graph/builder.h"

namespace tpack::nn {

struct TableInputOptions {
  int64_t width = 12;        // additional numbers for each column
  int64_t frequencies = 24;  // of each column
  double deviation = 0.5;    // standard deviation of the initial frequencies, in periods
};

/// Each column of a table, and `width` numbers computed from it: ReLU(W [sin(2 pi c x), cos(2 pi c x)] + b),
/// with different frequencies c for each column, and common W and b. This makes steps and bumps of a column
/// nearly linear, which networks otherwise learn slowly. Columns should be about -1 to 1. Its variables are
/// frequencies [columns, frequencies], W [2 frequencies, width] and b [width] of the current scope. Shapes: x
/// [N, columns] -> y [N, columns (1 + width)]: the columns, then the numbers of the first one, ... Errors:
/// ShapeError if x has other axes, or a size is below 1. Source: Gorishniy et al. 2022, "On Embeddings for
/// Numerical Features in Tabular Deep Learning"; W for all columns: their PLR(lite).
Symbol table_input(Builder& b, Symbol x, const TableInputOptions& options);
/// The same in a scope with this name.
inline Symbol table_input(Builder& b, Symbol x, std::string_view name, const TableInputOptions& options) {
  const Builder::NameScope scope(b, name);
  return table_input(b, x, options);
}

}  // namespace tpack::nn
