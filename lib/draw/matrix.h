#pragma once

#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace tpack {

/// A table of counts with a name for each row and column, drawn as squares: darker squares have a larger
/// share of their row.
struct Matrix {
  std::string row_title;
  std::string column_title;
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::vector<double> values;  // by row, at least 0

  double at(size_t row, size_t column) const { return values[row * columns.size() + column]; }
  /// The share of each value in its row; 0 in a row of zeros.
  std::vector<double> shares(size_t row) const;
};

/// An SVG image with the names and, up to 20 columns, the values; with more columns, squares of zeros are
/// omitted.
std::string svg_matrix(const Matrix& matrix);
/// Without words, white to blue. Shape: [rows * side, columns * side, 3], float32 from 0 to 255, where a
/// square has as many pixels as fit into a picture of 512, at least 1.
Tensor matrix_image(const Matrix& matrix);

}  // namespace tpack
