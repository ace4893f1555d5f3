#include <map>

#include <opencv2/imgproc.hpp>

#include "image/augment/augment_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

/// 10,000 draws of the rectangle; bounds are 5 standard deviations.
TEST(RandomCutout, draws_sizes_and_places) {
  const auto cutout =
      augmentor("RandomCutout", {{"h_range", list({2, 4})}, {"w_range", list({5, 5})}, {"fill", 9}});
  const cv::Mat black = cv::Mat::zeros(6, 8, CV_8UC1);
  std::map<int, int> heights;
  std::map<int, int> lefts;
  for (uint64_t seed = 0; seed < 10000; ++seed) {
    const cv::Mat out = applied(*cutout, black, seed);
    const cv::Rect found = cv::boundingRect(out);
    EXPECT_EQ(cv::countNonZero(out == 9), found.area());
    EXPECT_EQ(found.width, 5);
    ++heights[found.height];
    ++lefts[found.x];
  }
  ASSERT_EQ(heights.size(), 3);
  for (const auto& [height, count] : heights) EXPECT_NEAR(count, 3333, 236) << height;
  ASSERT_EQ(lefts.size(), 4);
  for (const auto& [left, count] : lefts) EXPECT_NEAR(count, 2500, 217) << left;
  const auto whole = augmentor(
      "RandomCutout", {{"h_range", list({9, 9})}, {"w_range", list({9, 9})}, {"fill", list({1, 2, 3})}});
  EXPECT_EQ(applied(*whole, cv::Mat::zeros(4, 5, CV_8UC3)).at<cv::Vec3b>(3, 4), cv::Vec3b(1, 2, 3));
  EXPECT_THROW(whole->shape({4, 5, 1}), ConfigError);
}

const live::Fields kRandomCutout("augmentor", "RandomCutout",
                                 {.values = {{"h_range", "[50, 60]"}, {"w_range", "[50, 60]"}}});

}  // namespace
}  // namespace tpack
