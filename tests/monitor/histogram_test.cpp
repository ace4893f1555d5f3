#include "monitor/histogram.h"

#include <cmath>

#include <gmock/gmock-matchers.h>

namespace tpack {
namespace {

using testing::ElementsAre;

TEST(Histogram, counts_values_in_bins_of_equal_width) {
  const Histogram h = histogram_of(Tensor::of<float>({6}, {0, 1, 1.5F, 2, 3, 4}), 4);
  EXPECT_THAT(h.limits, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(h.counts, ElementsAre(1, 2, 1, 2));  // the last one with its upper end
  EXPECT_EQ(h.min, 0);
  EXPECT_EQ(h.max, 4);
  EXPECT_EQ(h.sum, 11.5);
  EXPECT_EQ(h.sum_of_squares, 1 + 2.25 + 4 + 9 + 16);
}

TEST(Histogram, has_one_bin_for_equal_values) {
  const Histogram h = histogram_of(Tensor::of<double>({3}, {2, 2, 2}));
  EXPECT_THAT(h.limits, ElementsAre(2));
  EXPECT_THAT(h.counts, ElementsAre(3));
}

TEST(Histogram, leaves_out_what_is_not_finite) {
  const Histogram h = histogram_of(Tensor::of<float>({4}, {NAN, 1, INFINITY, 2}), 1);
  EXPECT_THAT(h.counts, ElementsAre(2));
  EXPECT_TRUE(histogram_of(Tensor::of<float>({1}, {NAN})).counts.empty());
}

}  // namespace
}  // namespace tpack
