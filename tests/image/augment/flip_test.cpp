#include "image/augment/augment_helpers.h"

namespace tpack {
namespace {

TEST(Flip, mirrors_like_opencv) {
  const cv::Mat pixels = photo(13, 9);
  cv::Mat expected;
  cv::flip(pixels, expected, 1);
  EXPECT_EQ(largest_difference(applied(*augmentor("Flip", {{"prob", 1}}), pixels), expected), 0);
  cv::flip(pixels, expected, 0);
  EXPECT_EQ(largest_difference(applied(*augmentor("Flip", {{"prob", 1}, {"direction", "vertical"}}), pixels),
                               expected),
            0);
}

TEST(Flip, happens_as_often_as_asked) {
  const auto flip = augmentor("Flip", {{"prob", 0.3}});
  int flips = 0;
  for (uint64_t seed = 0; seed < 10000; ++seed) {
    Rng rng(seed);
    flips += flip->draw({4, 4}, rng) != nullptr ? 1 : 0;
  }
  EXPECT_NEAR(flips, 3000, 4 * 46);  // four standard deviations
}

}  // namespace
}  // namespace tpack
