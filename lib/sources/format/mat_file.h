#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tpack {

/// An array of a MAT file: numbers in MATLAB order (by columns), a cell array or a struct array.
struct MatArray {
  std::string name;  // empty inside other arrays
  std::string kind;  // as MATLAB calls it: "double", "logical", "cell", "struct", ...
  std::vector<int64_t> shape;
  std::vector<std::string> fields = {};  // of a struct
  /// For a cell array, its elements; for a struct array, the fields of its first element, then those of the
  /// second one, and so on.
  std::vector<MatArray> items = {};
  std::string text = {};  // of a "char" array of one row, in UTF-8
  /// Its number of numbers: none if it is complex, sparse or not numeric.
  int64_t numbers = 0;
  /// One of them.
  double at(int64_t i) const { return read(data, static_cast<size_t>(i)); }

  std::span<const uint8_t> data = {};  // of the numbers
  double (*read)(std::span<const uint8_t> data, size_t i) = nullptr;

  /// "cell [1, 5]", "struct [1, 1] with Segmentation and Boundaries".
  std::string str() const;
  /// The field of a struct of one element; null if there is none.
  const MatArray* field(std::string_view field) const;
};

/// True for files of MATLAB 5 to 7 ("-v7" and older) except version 4, which has no signature; also true for
/// version 7.3, which is HDF5.
bool is_mat_file(std::span<const uint8_t> bytes);

/// The arrays of a file, which last as long as it, and the bytes that it was read from.
struct MatFile {
  std::vector<MatArray> arrays;
  std::vector<std::vector<uint8_t>> unpacked;
};

constexpr size_t kMostMatMegabytes = 512;

/// Source: "MAT-File Format", The MathWorks, level 5. Errors: DataError for damaged files, version 7.3, and
/// files that are too large (more than `most_megabytes` unpacked, or a million arrays).
MatFile read_mat_file(std::span<const uint8_t> bytes, size_t most_megabytes = kMostMatMegabytes);

}  // namespace tpack
