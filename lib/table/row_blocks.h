#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tpack {

/// Rows of numbers of the same length, in the blocks in which they were read: a table grows without copies.
/// Threads: any number at once may read.
class RowBlocks {
 public:
  explicit RowBlocks(size_t columns) : columns_(columns) {}

  size_t columns() const { return columns_; }
  /// Adds rows after the others.
  void append(std::vector<float> rows) {
    if (rows.empty()) return;
    ends_.push_back((ends_.empty() ? 0 : ends_.back()) + rows.size() / columns_);
    blocks_.push_back(std::move(rows));
  }
  const float* row(size_t index) const { return row_in(block_of(index), index); }
  /// The numbers of some columns in these rows, by column: few enough for the cache, so that each cache line
  /// of a row is read once.
  std::vector<std::vector<float>> columns(size_t first, size_t count, std::span<const int64_t> rows) const {
    std::vector<std::vector<float>> numbers(count, std::vector<float>(rows.size()));
    size_t block = 0;  // of the previous row, because most accesses are sequential
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto index = static_cast<size_t>(rows[i]);
      if (index < first_of(block) || index >= ends_[block]) block = block_of(index);
      const float* const row = row_in(block, index) + first;
      for (size_t k = 0; k < count; ++k) numbers[k][i] = row[k];
    }
    return numbers;
  }

 private:
  size_t block_of(size_t row) const {
    return static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), row) - ends_.begin());
  }
  size_t first_of(size_t block) const { return block == 0 ? 0 : ends_[block - 1]; }
  const float* row_in(size_t block, size_t row) const {
    return blocks_[block].data() + (row - first_of(block)) * columns_;
  }

  size_t columns_;
  std::vector<std::vector<float>> blocks_;
  std::vector<size_t> ends_;  // the row after each block
};

}  // namespace tpack
