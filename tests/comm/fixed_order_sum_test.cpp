#include "comm/fixed_order_sum.h"

#include <vector>

#include <gtest/gtest.h>

namespace tpack {
namespace {

std::vector<float> sum(const std::vector<std::vector<float>>& arrays) {
  std::vector<float> result(arrays[0].size());
  sum_in_rank_order<float>(
      static_cast<int>(arrays.size()), result.size(),
      [&](int rank) { return arrays[static_cast<size_t>(rank)].data(); },
      [&](size_t begin, std::span<const float> sums) {
        std::copy(sums.begin(), sums.end(), result.begin() + static_cast<std::ptrdiff_t>(begin));
      });
  return result;
}

TEST(FixedOrderSum, adds_from_the_first_rank_on) {
  EXPECT_EQ(sum({{1e8F}, {-1e8F}, {0.25F}}), std::vector<float>{0.25F});
  EXPECT_EQ(sum({{0.25F}, {1e8F}, {-1e8F}}), std::vector<float>{0.0F});
}

TEST(FixedOrderSum, goes_over_every_piece) {
  std::vector<float> ramp(1500);
  for (size_t i = 0; i < ramp.size(); ++i) ramp[i] = static_cast<float>(i);
  const std::vector<float> total = sum({ramp, ramp, ramp});
  for (size_t i = 0; i < ramp.size(); ++i) ASSERT_EQ(total[i], 3.0F * static_cast<float>(i));
}

}  // namespace
}  // namespace tpack
