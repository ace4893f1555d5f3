#include "table/row_blocks.h"

#include <gtest/gtest.h>

namespace tpack {
namespace {

TEST(RowBlocks, finds_rows_in_blocks_of_any_length) {
  RowBlocks rows(2);
  float next = 0;
  for (const size_t count : std::vector<size_t>{3, 1, 0, 5, 2}) {
    std::vector<float> block;
    for (size_t i = 0; i < 2 * count; ++i) block.push_back(next++);
    rows.append(std::move(block));
  }
  for (size_t row = 0; row < 11; ++row) {
    EXPECT_EQ(rows.row(row)[0], static_cast<float>(2 * row));
    EXPECT_EQ(rows.row(row)[1], static_cast<float>(2 * row + 1));
  }
  const std::vector<int64_t> some = {10, 0, 3, 4, 8, 9, 2};
  EXPECT_EQ(rows.columns(1, 1, some), (std::vector<std::vector<float>>{{21, 1, 7, 9, 17, 19, 5}}));
  EXPECT_EQ(rows.columns(0, 2, std::vector<int64_t>{7, 6}),
            (std::vector<std::vector<float>>{{14, 12}, {15, 13}}));
  EXPECT_TRUE(rows.columns(1, 1, {})[0].empty());
}

}  // namespace
}  // namespace tpack
