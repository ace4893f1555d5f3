#include "comm/comm.h"

#include <gtest/gtest.h>

namespace tpack {
namespace {

TEST(SliceOf, covers_every_element_once_in_order) {
  for (const size_t count : {0U, 1U, 16U, 17U, 100U, 1000003U}) {
    for (const int size : {1, 2, 3, 7}) {
      size_t end = 0;
      for (int rank = 0; rank < size; ++rank) {
        const RankPart slice = part_of_rank(count, rank, size);
        EXPECT_EQ(slice.begin, end);
        EXPECT_TRUE(slice.begin % 16 == 0 || slice.begin == count);
        end = slice.end;
      }
      EXPECT_EQ(end, count);
    }
  }
}

TEST(SliceOf, is_balanced) {
  EXPECT_EQ(part_of_rank(3200, 1, 2).size(), 1600U);
  EXPECT_EQ(part_of_rank(48, 2, 3).size(), 16U);
}

}  // namespace
}  // namespace tpack
