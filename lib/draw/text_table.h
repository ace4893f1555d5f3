#pragma once

#include <string>
#include <vector>

namespace tpack {

/// Rows of text in aligned columns for the terminal; columns of numbers are right-aligned, the first column
/// is left-aligned.
class TextTable {
 public:
  /// Without headers there is no header line.
  explicit TextTable(std::vector<std::string> header = {}) : header_(std::move(header)) {}

  /// Rows may be shorter than the header. Control characters become visible.
  void add(std::vector<std::string> row);
  /// Lines that end in a newline each, two spaces between columns. Texts of the last column that exceed
  /// `width` characters continue on further lines; 0: no limit.
  std::string str(size_t width = 0) const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tpack
