#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tpack {

/// A MAT file of level 5 with these variables (matrix elements), packed or not, in this order of bytes.
std::vector<uint8_t> mat_file(const std::vector<std::string>& variables, bool is_packed = false,
                              bool is_big_endian = false);
/// Matrix elements; `values` are in the order of MATLAB, down the columns.
class MatWriter {
 public:
  explicit MatWriter(bool is_big_endian = false) : is_big_(is_big_endian) {}

  std::string numbers(const std::string& name, const std::vector<int32_t>& shape,
                      const std::vector<double>& values, bool is_logical = false) const;
  /// A "uint8" array.
  std::string bytes(const std::string& name, const std::vector<int32_t>& shape,
                    const std::vector<uint8_t>& values) const;
  /// A "char" array of one row.
  std::string text(const std::string& name, const std::string& characters) const;
  std::string cell(const std::string& name, const std::vector<std::string>& items) const;
  /// `items`: the fields of the first element, then those of the second one, and so on.
  std::string structure(const std::string& name, const std::vector<std::string>& fields,
                        const std::vector<std::string>& items) const;

 private:
  std::string word(uint64_t value, size_t bytes) const;
  /// A short one has its bytes in the tag.
  std::string element(uint32_t type, const std::string& data) const;
  std::string matrix(uint32_t flags, const std::vector<int32_t>& shape, const std::string& name,
                     const std::string& content) const;

  bool is_big_;
};

}  // namespace tpack
