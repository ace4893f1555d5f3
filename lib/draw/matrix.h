#pragma once

#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace tpack {

/// A table of counts with a name for each row and column, to be drawn as squares: each is the darker, the
/// larger its share of its row.
struct Matrix {
  std::string row_title;
  std::string column_title;
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::vector<double> values;  // by row, at least 0

  double at(size_t row, size_t column) const { return values[row * columns.size() + column]; }
  /// The part of its row that each value is; 0 in a row of zeros.
  std::vector<double> shares(size_t row) const;
};

/// As an SVG image with the names and, up to 20 columns, the values; of more, squares of zeros are left out.
std::string svg_matrix(const Matrix& matrix);
/// Without words, white to blue. Shape: [rows * side, columns * side, 3], float32 from 0 to 255, where a
/// square has as many pixels as leave the picture below 512, at least 1.
Tensor matrix_image(const Matrix& matrix);

}  // namespace tpack
