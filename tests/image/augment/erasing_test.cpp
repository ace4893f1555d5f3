#include <algorithm>
#include <map>

#include <opencv2/core.hpp>
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

const live::Fields kRandomErasing("augmentor", "RandomErasing", {.values = {{"ratio", "[1, 1]"}}});

/// A white image of 8 bits; what is erased is not white.
cv::Mat white(int width, int height) { return {height, width, CV_8UC3, cv::Scalar::all(255)}; }

/// The smallest rectangle around the pixels that are not white.
cv::Rect erased_part(const cv::Mat& image) {
  cv::Mat channel;
  cv::extractChannel(image, channel, 0);
  return cv::boundingRect(channel != 255);
}

TEST(RandomErasing, fills_a_rectangle_of_the_size_and_shape_that_is_asked_for) {
  const auto erasing = augmentor(
      "RandomErasing", {{"prob", 1}, {"area", list({0.1, 0.2})}, {"ratio", list({0.5, 2})}, {"value", 7}});
  double least = 1;
  double most = 0;
  int upright = 0;
  constexpr int kDraws = 1000;
  for (uint64_t seed = 0; seed < kDraws; ++seed) {
    const cv::Mat out = applied(*erasing, white(200, 100), seed);
    const cv::Rect part = erased_part(out);
    EXPECT_EQ(cv::countNonZero(out(part).clone().reshape(1) != 7), 0);
    const double area = part.area() / 20000.0;
    const double ratio = static_cast<double>(part.height) / part.width;
    EXPECT_TRUE(area > 0.097 && area < 0.203) << area;
    EXPECT_TRUE(ratio > 0.48 && ratio < 2.08) << ratio;
    least = std::min(least, area);
    most = std::max(most, area);
    upright += part.height > part.width ? 1 : 0;
  }
  EXPECT_LT(least, 0.103);
  EXPECT_GT(most, 0.197);
  EXPECT_NEAR(upright, kDraws / 2, 4 * 16);  // four standard deviations
}

TEST(RandomErasing, reaches_all_pixels) {
  const auto erasing = augmentor("RandomErasing", {{"prob", 1}});
  cv::Mat reached = cv::Mat::zeros(8, 12, CV_8U);
  for (uint64_t seed = 0; seed < 300; ++seed) reached(erased_part(applied(*erasing, white(12, 8), seed))) = 1;
  EXPECT_EQ(cv::countNonZero(reached), 12 * 8);
}

TEST(RandomErasing, leaves_images_alone_that_no_rectangle_fits_into) {
  const auto erasing =
      augmentor("RandomErasing", {{"prob", 1}, {"area", list({0.9, 1})}, {"ratio", list({4, 8})}});
  EXPECT_EQ(largest_difference(applied(*erasing, white(40, 40)), white(40, 40)), 0);
}

TEST(RandomErasing, rejects_ranges_in_the_wrong_order) {
  EXPECT_THROW(augmentor("RandomErasing", {{"area", list({0.3, 0.1})}}), ConfigError);
  EXPECT_THROW(augmentor("RandomErasing", {{"ratio", list({2, 1})}}), ConfigError);
}

/// Squares of half the period cover a quarter of the image, on average over the places of the grid.
TEST(GridMask, covers_its_share) {
  const auto grid = augmentor("GridMask", {{"period", list({10, 20})}, {"ratio", 0.5}, {"fill", 1}});
  const cv::Mat black = cv::Mat::zeros(100, 100, CV_8UC1);
  double sum = 0;
  constexpr int kDraws = 1000;
  for (uint64_t seed = 0; seed < kDraws; ++seed) sum += cv::sum(applied(*grid, black, seed))[0];
  EXPECT_NEAR(sum / kDraws / 1e4, 0.25, 0.025);  // half of an odd period is rounded up
  const cv::Mat one =
      applied(*augmentor("GridMask", {{"period", list({8, 8})}, {"ratio", 0.25}, {"fill", 1}}),
              cv::Mat::zeros(80, 80, CV_8UC1));
  EXPECT_EQ(cv::sum(one)[0], 100 * 2 * 2) << "one square of 2 x 2 for each 8 x 8 pixels";
}

const live::Fields kGridMask("augmentor", "GridMask", {.values = {{"period", "[50, 60]"}}});

}  // namespace
}  // namespace tpack
